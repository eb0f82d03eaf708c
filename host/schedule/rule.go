// Package schedule says when a loop is due, and how the schedulers of four
// systems are told. It promises that a rule means the same times wherever it is
// used: in the tick that judges its own firing, and in the systemd timer, cron
// line, launchd agent or Windows task that fires it. What a scheduler cannot
// keep exactly is refused, with the nearest that it can. It is pure: it reads no
// clock and no file, and its functions may be called concurrently.
package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of Rule.Every.
const (
	MinEvery = time.Minute
	MaxEvery = 366 * 24 * time.Hour
)

// Rule says when something is due: every so often, or by a cron line. One of
// the two is set; the zero Rule is never due.
type Rule struct {
	Every time.Duration `json:"every,omitempty"` // whole minutes, from MinEvery to MaxEvery
	Cron  string        `json:"cron,omitempty"`  // minute, hour, day of month, month, day of week
}

// IsZero tells whether there is no rule.
func (r Rule) IsZero() bool { return r == Rule{} }

// String is the rule as people write it.
func (r Rule) String() string {
	switch {
	case r.Every > 0:
		return "every " + short(r.Every)
	case r.Cron != "":
		return "cron " + r.Cron
	}
	return "no schedule"
}

// short is a duration without the units that are zero.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0 && d > time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// Times is a rule made ready to compute with.
type Times struct {
	rule  Rule
	every time.Duration // set where the rule has no calendar form
	cron  fields
}

// Parse makes a rule ready. An error says what is wrong with it and what would
// be right.
func Parse(r Rule) (*Times, error) {
	switch {
	case r.Every != 0 && r.Cron != "":
		return nil, errors.New("a schedule has every or cron, not both: leave one out")
	case r.Cron != "":
		cron, err := parseCron(r.Cron)
		return &Times{rule: r, cron: cron}, err
	case r.Every == 0:
		return nil, errors.New(`a schedule needs every = "30m" or cron = "0 2 * * 1-5"`)
	case r.Every < MinEvery || r.Every > MaxEvery || r.Every%time.Minute != 0:
		return nil, fmt.Errorf("every must be whole minutes from 1m to %s, not %v", short(MaxEvery), r.Every)
	}
	line := calendar(r.Every)
	if line == "" {
		return &Times{rule: r, every: r.Every}, nil
	}
	cron, err := parseCron(line)
	return &Times{rule: r, cron: cron}, err
}

// calendar is the cron line that means the same as an interval: one that
// divides the hour, or is whole hours and divides the day. "" where there is
// none: 45 minutes come to another minute in each hour.
func calendar(every time.Duration) string {
	const day = 24 * time.Hour
	minutes, hours := every/time.Minute, every/time.Hour
	switch {
	case every == time.Minute:
		return "* * * * *"
	case time.Hour%every == 0 && every < time.Hour:
		return fmt.Sprintf("*/%d * * * *", minutes)
	case every == time.Hour:
		return "0 * * * *"
	case every == day:
		return "0 0 * * *"
	case every%time.Hour == 0 && every < day && day%every == 0:
		return fmt.Sprintf("0 */%d * * *", hours)
	}
	return ""
}

// IsCalendar tells whether the rule's times are times of the day, so that
// schedulers that know calendars can keep it.
func (t *Times) IsCalendar() bool { return t.every == 0 }

// Nearest are the intervals with a calendar form below and above an interval
// that has none; zero where there is none on that side.
func Nearest(every time.Duration) (below, above time.Duration) {
	for _, d := range calendarIntervals() {
		if d <= every {
			below = d
		}
		if d >= every && above == 0 {
			above = d
		}
	}
	return below, above
}

// calendarIntervals are all intervals that have a calendar form, shortest first.
func calendarIntervals() []time.Duration {
	var all []time.Duration
	for m := time.Minute; m <= 24*time.Hour; m += time.Minute {
		if calendar(m) != "" {
			all = append(all, m)
		}
	}
	return all
}
