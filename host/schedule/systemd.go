package schedule

import (
	"fmt"
	"strings"
	"time"
)

// printSystemd makes a oneshot service and its timer. The timer has calendar
// times only: one of OnBootSec and OnUnitActiveSec stands still for ever after a
// restart, and reads as active.
func printSystemd(j Job, f fields) Printed {
	var service, timer strings.Builder
	fmt.Fprintf(&service, "# %s\n[Unit]\nDescription=spec-kitty loop %s\n\n[Service]\nType=oneshot\n", j.about(), percent(j.Loop))
	fmt.Fprintf(&service, "WorkingDirectory=%s\nEnvironment=%s\nExecStart=%s\n", bare(j.Dir), quotedUnit("PATH="+j.Path), execStart(j))
	fmt.Fprintf(&service, "TimeoutStartSec=%d\nKillMode=mixed\nSuccessExitStatus=75\n", seconds(j.Timeout))
	if j.Log != "" {
		fmt.Fprintf(&service, "StandardOutput=append:%s\nStandardError=append:%s\n", percent(j.Log), percent(j.Log))
	}
	fmt.Fprintf(&timer, "# %s\n[Unit]\nDescription=Times of spec-kitty loop %s\n\n[Timer]\n", j.about(), percent(j.Loop))
	for _, days := range f.dayRules() {
		fmt.Fprintf(&timer, "OnCalendar=%s\n", f.onCalendar(days))
	}
	fmt.Fprintf(&timer, "Persistent=%t\nAccuracySec=1s\n", j.CatchUp)
	if j.Jitter > 0 {
		fmt.Fprintf(&timer, "RandomizedDelaySec=%d\nFixedRandomDelay=true\n", seconds(j.Jitter))
	}
	fmt.Fprintf(&timer, "Unit=%s.service\n\n[Install]\nWantedBy=timers.target\n", j.Name())
	return Printed{
		Units: []Unit{{j.Name() + ".service", service.String()}, {j.Name() + ".timer", timer.String()}},
		Notes: []string{"user timers run while the user is logged in; to run always: loginctl enable-linger " + shell(j.User)},
	}
}

// onCalendar is the line in systemd's words.
func (f fields) onCalendar(days dayRule) string {
	text := ""
	if days.byDow {
		names := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
		var on []string
		for _, d := range members(f.dow, 0, 6) {
			on = append(on, names[d])
		}
		text = strings.Join(on, ",") + " "
	}
	month, dom := "*", "*"
	if !f.everyMonth() {
		month = numbers(f.month, 1, 12, "%02d")
	}
	if days.byDom {
		dom = numbers(f.dom, 1, 31, "%02d")
	}
	return text + "*-" + month + "-" + dom + " " + open(f.hour, 23) + ":" + open(f.minute, 59) + ":00"
}

// open is a set from 0 to most as a list, or * for all.
func open(set uint64, most int) string {
	if set == 1<<(most+1)-1 {
		return "*"
	}
	return numbers(set, 0, most, "%02d")
}

// unsafe are characters that systemd allows in no executable's name.
const unsafe = "\"'\\$"

// execStart is the command line. A program whose name systemd would not take is
// started by env, whose arguments may be anything.
func execStart(j Job) string {
	var words []string
	if strings.ContainsAny(j.Program, unsafe) {
		words = append(words, "/usr/bin/env")
	}
	for _, arg := range append([]string{j.Program}, j.Args...) {
		words = append(words, quotedUnit(arg))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "$", "$$")
}

// quotedUnit is one word of a unit file: in quotes, with backslash and quote
// escaped, and percent doubled, which begins specifiers.
func quotedUnit(word string) string {
	return `"` + percent(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word)) + `"`
}

// bare is a folder that stands alone as a value, where quotes would be part of
// it. A backslash at the end would go on in the next line, a space be cut off.
func bare(path string) string {
	if strings.HasSuffix(path, `\`) || strings.HasSuffix(path, " ") {
		path += "/."
	}
	return percent(path)
}

func percent(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
