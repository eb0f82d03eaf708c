package schedule

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// maxIntervals bounds the calendar intervals of an agent: launchd goes through
// all of them to find the next.
const maxIntervals = 1000

// LaunchdLabel is the name of a loop's agent.
func LaunchdLabel(loop, uid string) string { return "spec-kitty.loop." + loop + "." + uid }

// printLaunchd makes a user agent. It has none of a shell's surroundings, not
// even USER, and drops output that has no file.
func printLaunchd(j Job, f fields) (Printed, error) {
	intervals := f.intervals()
	if len(intervals) > maxIntervals {
		return Printed{}, &CalendarError{System: Launchd, Rule: j.Rule, Why: fmt.Sprintf("it would be %d single times, more than %d", len(intervals), maxIntervals)}
	}
	label := LaunchdLabel(j.Loop, j.UID)
	var out strings.Builder
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + strings.ReplaceAll(j.about(), "--", "- -") + ` -->
<plist version="1.0">
<dict>
`)
	entry(&out, "Label", text(label))
	entry(&out, "ProgramArguments", array(texts(append([]string{j.Program}, j.Args...))))
	entry(&out, "WorkingDirectory", text(j.Dir))
	entry(&out, "EnvironmentVariables", dict("PATH", text(j.Path), "HOME", text(j.Home), "USER", text(j.User), "LOGNAME", text(j.User)))
	entry(&out, "StartCalendarInterval", array(intervals))
	entry(&out, "ProcessType", text("Background"))
	if j.Log != "" {
		entry(&out, "StandardOutPath", text(j.Log))
		entry(&out, "StandardErrorPath", text(j.Log))
	}
	out.WriteString("</dict>\n</plist>\n")
	return Printed{
		Units: []Unit{{label + ".plist", out.String()}},
		Notes: []string{
			"a user agent needs a login; what is missed in sleep runs once on wake, what is missed while the machine is off is lost",
			"launchd knows no time limit: the loop's own limits end a tick that is stuck",
		},
	}, nil
}

// intervals are the line's times as dictionaries; a key that is left out is
// any.
func (f fields) intervals() []string {
	all := []string{""}
	times := func(key string, set uint64, least, most int, any bool) []string {
		if any {
			return all
		}
		var more []string
		for _, before := range all {
			for _, n := range members(set, least, most) {
				more = append(more, fmt.Sprintf("%s<key>%s</key><integer>%d</integer>", before, key, n))
			}
		}
		return more
	}
	all = times("Month", f.month, 1, 12, f.everyMonth())
	months := all
	var dated []string
	for _, days := range f.dayRules() {
		all = months
		all = times("Day", f.dom, 1, 31, !days.byDom)
		all = times("Weekday", f.dow, 0, 6, !days.byDow)
		dated = append(dated, all...)
	}
	all = dated
	all = times("Hour", f.hour, 0, 23, f.everyHour())
	all = times("Minute", f.minute, 0, 59, f.minute == 1<<60-1)
	for i := range all {
		all[i] = "<dict>" + all[i] + "</dict>"
	}
	return all
}

func entry(out *strings.Builder, key, value string) {
	fmt.Fprintf(out, "\t<key>%s</key>\n\t%s\n", key, value)
}

func text(s string) string { return "<string>" + escaped(s) + "</string>" }

func texts(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, text(s))
	}
	return out
}

func array(items []string) string {
	return "<array>\n\t\t" + strings.Join(items, "\n\t\t") + "\n\t</array>"
}

func dict(pairs ...string) string {
	var out strings.Builder
	out.WriteString("<dict>\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&out, "\t\t<key>%s</key>%s\n", pairs[i], pairs[i+1])
	}
	return out.String() + "\t</dict>"
}

// escaped is text between two tags of XML.
func escaped(s string) string {
	var out strings.Builder
	// Cannot fail: the builder takes everything.
	_ = xml.EscapeText(&out, []byte(s))
	return out.String()
}
