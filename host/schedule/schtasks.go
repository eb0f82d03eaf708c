package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of a Windows task.
const (
	maxTriggers = 48
	maxRepeat   = 31 * 24 * time.Hour
)

// printTask makes a task's XML. Flags of schtasks cannot say what matters: that
// a task also starts on battery, is not killed after 72 hours, and is made up
// for when the machine was off.
func printTask(j Job, t *Times) (Printed, error) {
	triggers, err := taskTriggers(j, t)
	if err != nil {
		return Printed{}, err
	}
	var args []string
	for _, arg := range j.Args {
		args = append(args, windowsWord(arg))
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<?xml version="1.0" encoding="UTF-8"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>%s</Description>
    <URI>\%s</URI>
  </RegistrationInfo>
  <Triggers>
%s  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>%t</StartWhenAvailable>
    <ExecutionTimeLimit>PT%dS</ExecutionTimeLimit>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%s</Command>
      <Arguments>%s</Arguments>
      <WorkingDirectory>%s</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`, escaped(j.about()), escaped(j.Name()), strings.Join(triggers, ""), j.CatchUp, seconds(j.Timeout),
		escaped(j.Program), escaped(strings.Join(args, " ")), escaped(j.Dir))
	return Printed{
		Units: []Unit{{j.Name() + ".xml", out.String()}},
		Notes: []string{
			"a task runs while the user is logged on, with the user's own PATH",
			"to enter it: schtasks /create /tn " + j.Name() + " /xml " + j.Name() + ".xml",
		},
	}, nil
}

func taskTriggers(j Job, t *Times) ([]string, error) {
	refuse := func(why string) ([]string, error) {
		return nil, &CalendarError{System: Schtasks, Rule: j.Rule, Why: why}
	}
	f := t.cron
	switch step := f.pace(); {
	case !t.IsCalendar() && t.every > maxRepeat:
		return refuse("it repeats after 31 days at most")
	case !t.IsCalendar():
		// Counted from 1970 in UTC, as the tick counts.
		return []string{trigger("TimeTrigger", "1970-01-01T00:00:00Z", t.every, "", j.Jitter, "")}, nil
	case step > 0 && f.anyDay():
		start := fmt.Sprintf("2000-01-01T00:%02d:00", members(f.minute, 0, 59)[0])
		return []string{trigger("CalendarTrigger", start, step, "P1D", j.Jitter, "<ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>")}, nil
	}
	hours, minutes := members(f.hour, 0, 23), members(f.minute, 0, 59)
	rules := f.dayRules()
	if n := len(hours) * len(minutes) * len(rules); n > maxTriggers {
		return refuse(fmt.Sprintf("it would be %d times of the day, and a task has at most %d", n, maxTriggers))
	}
	var all []string
	for _, days := range rules {
		if days.byDom && days.byDow {
			return refuse("it knows no weekday that is also a certain day of the month")
		}
		for _, h := range hours {
			for _, m := range minutes {
				all = append(all, trigger("CalendarTrigger", fmt.Sprintf("2000-01-01T%02d:%02d:00", h, m), 0, "", j.Jitter, f.taskDays(days)))
			}
		}
	}
	return all, nil
}

func (f fields) anyDay() bool {
	rules := f.dayRules()
	return len(rules) == 1 && rules[0] == dayRule{} && f.everyMonth()
}

// pace is the interval of a line that leaves the hour open and has its minutes
// evenly; 0 for another.
func (f fields) pace() time.Duration {
	minutes := members(f.minute, 0, 59)
	if !f.everyHour() || 60%max(len(minutes), 1) != 0 {
		return 0
	}
	step := 60 / len(minutes)
	for i, m := range minutes {
		if m != minutes[0]+i*step {
			return 0
		}
	}
	return time.Duration(step) * time.Minute
}

// trigger is one trigger; every of 0 is no repetition, within "" is for ever.
func trigger(kind, start string, every time.Duration, within string, jitter time.Duration, days string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "    <%s>\n", kind)
	if every > 0 {
		fmt.Fprintf(&out, "      <Repetition><Interval>PT%dM</Interval>", every/time.Minute)
		if within != "" {
			fmt.Fprintf(&out, "<Duration>%s</Duration>", within)
		}
		out.WriteString("<StopAtDurationEnd>false</StopAtDurationEnd></Repetition>\n")
	}
	fmt.Fprintf(&out, "      <StartBoundary>%s</StartBoundary>\n      <Enabled>true</Enabled>\n", start)
	if jitter > 0 {
		fmt.Fprintf(&out, "      <RandomDelay>PT%dS</RandomDelay>\n", seconds(jitter))
	}
	if days != "" {
		fmt.Fprintf(&out, "      %s\n", days)
	}
	fmt.Fprintf(&out, "    </%s>\n", kind)
	return out.String()
}

// taskDays are the days of a trigger.
func (f fields) taskDays(days dayRule) string {
	switch {
	case days.byDow && f.everyMonth():
		return "<ScheduleByWeek><WeeksInterval>1</WeeksInterval>" + f.weekdays() + "</ScheduleByWeek>"
	case days.byDow:
		return "<ScheduleByMonthDayOfWeek><Weeks><Week>1</Week><Week>2</Week><Week>3</Week><Week>4</Week><Week>Last</Week></Weeks>" +
			f.weekdays() + f.months() + "</ScheduleByMonthDayOfWeek>"
	case days.byDom || !f.everyMonth():
		var dom strings.Builder
		for _, d := range members(f.dom, 1, 31) {
			fmt.Fprintf(&dom, "<Day>%d</Day>", d)
		}
		return "<ScheduleByMonth><DaysOfMonth>" + dom.String() + "</DaysOfMonth>" + f.months() + "</ScheduleByMonth>"
	}
	return "<ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>"
}

func (f fields) weekdays() string {
	var out strings.Builder
	for _, d := range members(f.dow, 0, 6) {
		fmt.Fprintf(&out, "<%s />", time.Weekday(d))
	}
	return "<DaysOfWeek>" + out.String() + "</DaysOfWeek>"
}

func (f fields) months() string {
	var out strings.Builder
	for _, m := range members(f.month, 1, 12) {
		fmt.Fprintf(&out, "<%s />", time.Month(m))
	}
	return "<Months>" + out.String() + "</Months>"
}

// windowsWord is an argument as Windows programs take their command line apart:
// a backslash counts only before a quote, and there twice.
func windowsWord(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\"") {
		return arg
	}
	var out strings.Builder
	out.WriteByte('"')
	slashes := 0
	for _, r := range arg {
		switch r {
		case '\\':
			slashes++
		case '"':
			out.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		out.WriteRune(r)
	}
	return out.String() + strings.Repeat(`\`, slashes) + `"`
}
