package schedule

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// System is a scheduler that can be told of a loop.
type System string

// The schedulers.
const (
	Systemd  System = "systemd"  // user timers
	Cron     System = "cron"     // a user's crontab
	Launchd  System = "launchd"  // user agents
	Schtasks System = "schtasks" // Windows tasks
)

// Systems are all schedulers.
func Systems() []System { return []System{Systemd, Cron, Launchd, Schtasks} }

// Job is what a scheduler is told: what to run, when, and in which surroundings,
// since none of them has those of a shell. All paths are absolute.
type Job struct {
	Loop    string        `json:"loop"`    // name
	UID     string        `json:"uid"`     // of the loop: part of all names, so that a loop made anew is another
	Program string        `json:"program"` // the step runner
	Args    []string      `json:"args"`    // of a tick
	Dir     string        `json:"dir"`     // working folder
	Path    string        `json:"path"`    // literal value of PATH
	Home    string        `json:"home"`
	User    string        `json:"user"`
	Log     string        `json:"log"` // file that gets both outputs; "" for none
	Rule    Rule          `json:"rule"`
	Jitter  time.Duration `json:"jitter_ns"`
	CatchUp bool          `json:"catch_up"`   // a time that was missed is made up for
	Timeout time.Duration `json:"timeout_ns"` // after which the scheduler ends a tick that is stuck
}

// Printed is what a scheduler is told, as text.
type Printed struct {
	Units []Unit
	Notes []string // what this scheduler does not keep, for people
}

// Unit is one file, or the part of the crontab.
type Unit struct {
	Name string
	Text string
}

// CalendarError says that a scheduler cannot keep a rule, and which near it can.
type CalendarError struct {
	System System
	Rule   Rule
	Why    string
	Fits   []Rule // the nearest that it can keep
}

func (e *CalendarError) Error() string {
	text := fmt.Sprintf("%s cannot keep %q: %s", e.System, e.Rule, e.Why)
	if len(e.Fits) == 0 {
		return text
	}
	var fits []string
	for _, r := range e.Fits {
		fits = append(fits, r.String())
	}
	return text + "; the nearest that fit: " + strings.Join(fits, ", ")
}

// Print makes the text for a scheduler. It touches nothing. An error is a
// *CalendarError, or says what in the job cannot be written down.
func Print(system System, j Job) (Printed, error) {
	times, err := Parse(j.Rule)
	if err != nil {
		return Printed{}, err
	}
	if err := j.check(); err != nil {
		return Printed{}, err
	}
	if !times.IsCalendar() && system != Schtasks {
		return Printed{}, notCalendar(system, j.Rule)
	}
	switch system {
	case Systemd:
		return printSystemd(j, times.cron), nil
	case Cron:
		return printCron(j, times.cron), nil
	case Launchd:
		return printLaunchd(j, times.cron)
	case Schtasks:
		return printTask(j, times)
	}
	return Printed{}, fmt.Errorf("there is no scheduler %q: one of systemd, cron, launchd and schtasks was expected", system)
}

func notCalendar(system System, r Rule) error {
	e := &CalendarError{System: system, Rule: r, Why: "it knows times of the clock, and this interval comes to others in each hour or day"}
	below, above := Nearest(r.Every)
	for _, d := range []time.Duration{below, above} {
		if d > 0 {
			e.Fits = append(e.Fits, Rule{Every: d})
		}
	}
	return e
}

// check refuses what no scheduler could be told: lines end where they do.
func (j Job) check() error {
	texts := append([]string{j.Loop, j.UID, j.Program, j.Dir, j.Path, j.Home, j.User, j.Log}, j.Args...)
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("%q holds a control character or is not UTF-8, which no scheduler can be told: rename it", text)
		}
	}
	if j.Loop == "" || j.UID == "" || j.Program == "" || j.Dir == "" || j.Timeout <= 0 {
		return fmt.Errorf("a schedule needs the loop's name and uid, a program, a folder and a time limit, not %+v", j)
	}
	if strings.ContainsAny(j.Program, unsafe) && strings.Contains(j.Program, "=") {
		return fmt.Errorf("the program's path %q holds a quote, backslash or dollar sign and an equals sign, with which systemd cannot start it: install it elsewhere", j.Program)
	}
	if strings.HasSuffix(j.Log, `\`) || strings.HasSuffix(j.Log, " ") {
		return fmt.Errorf("the log %q ends with a character that schedulers cut off: name it otherwise", j.Log)
	}
	return nil
}

// Name is the job's name with a scheduler, where only letters, digits, - _ and .
// are safe. It follows from the loop and its uid alone.
func (j Job) Name() string { return "spec-kitty-loop-" + j.Loop + "-" + j.UID }

// about is the first line of what is written.
func (j Job) about() string {
	return "Loop " + j.Loop + " of spec-kitty. Made by: spec-kitty loop schedule, which also removes it."
}

// dayRule is which days of the line: a day of the month and a weekday each
// restrict, or with both named two rules of which one suffices.
type dayRule struct{ byDom, byDow bool }

func (f fields) dayRules() []dayRule {
	dom, dow := f.dom != 1<<32-2, f.dow != 1<<7-1
	if dom && dow && !f.anyDom && !f.anyDow {
		return []dayRule{{byDom: true}, {byDow: true}}
	}
	return []dayRule{{byDom: dom, byDow: dow}}
}

func (f fields) everyMonth() bool { return f.month == 1<<13-2 }

func members(set uint64, least, most int) []int {
	var all []int
	for n := least; n <= most; n++ {
		if set&(1<<n) != 0 {
			all = append(all, n)
		}
	}
	return all
}
