package loop

import (
	"fmt"
	"time"
)

// Backoff after failures: a minute, doubled with each in a row, at most an hour.
const (
	minBackoff = time.Minute
	maxBackoff = time.Hour
)

// Backoff is how long a loop waits after so many failures in a row.
func Backoff(failures int) time.Duration {
	wait := minBackoff
	for i := 1; i < failures && wait < maxBackoff; i++ {
		wait *= 2
	}
	return min(wait, maxBackoff)
}

// Crossing is a limit that was crossed, with the numbers: what was used, what
// was allowed, and so by how much it went over.
type Crossing struct {
	Code   Halting
	Detail string
}

// Crossed says which limit a run has crossed with what it used so far; ok is
// false where none is. count is the loop's, without this run.
func (r Rules) Crossed(count Count, u Usage, now time.Time) (c Crossing, ok bool) {
	day := count.Day.on(now)
	switch {
	case u.Cost != nil && r.MaxCostPerRun > 0 && *u.Cost > r.MaxCostPerRun:
		return Crossing{HaltCost, over("this run cost", *u.Cost, r.MaxCostPerRun)}, true
	case u.Tokens != nil && r.MaxTokensPerRun > 0 && *u.Tokens > r.MaxTokensPerRun:
		return Crossing{HaltTokens, over("this run's tokens:", *u.Tokens, r.MaxTokensPerRun)}, true
	}
	return r.day(day.plus(u), func(used, most int64) bool { return used > most })
}

// day holds a day's spend against the limits.
func (r Rules) day(day Spend, reached func(used, most int64) bool) (Crossing, bool) {
	switch {
	case r.MaxCostPerDay > 0 && reached(int64(day.Cost), int64(r.MaxCostPerDay)):
		return Crossing{HaltCost, over("today's runs cost", day.Cost, r.MaxCostPerDay)}, true
	case r.MaxTokensPerDay > 0 && reached(day.Tokens, r.MaxTokensPerDay):
		return Crossing{HaltTokens, over("today's tokens:", day.Tokens, r.MaxTokensPerDay)}, true
	case r.MaxTimePerDay > 0 && reached(int64(day.Time), int64(r.MaxTimePerDay)):
		return Crossing{HaltTime, over("today's runs took", day.Time, r.MaxTimePerDay)}, true
	}
	return Crossing{}, false
}

func over[N interface{ ~int64 }](what string, used, most N) string {
	return fmt.Sprintf("%s %v of at most %v, %v over", what, used, most, used-most)
}

// NeedsUsage names what a run must tell for its limits to hold: "" if nothing
// is missing. With a limit set, a run that does not tell is refused; it is not
// taken to have used nothing.
func (r Rules) NeedsUsage(u Usage) string {
	switch {
	case u.Cost == nil && (r.MaxCostPerRun > 0 || r.MaxCostPerDay > 0):
		return "its cost"
	case u.Tokens == nil && (r.MaxTokensPerRun > 0 || r.MaxTokensPerDay > 0):
		return "its tokens"
	}
	return ""
}

// LowContext tells whether work reported less context than it must have left.
func (r Rules) LowContext(u Usage) bool {
	return r.ContextFloor > 0 && u.Context != nil && *u.Context < r.ContextFloor
}

// exhausted is the limit that lets no further run begin.
func (r Rules) exhausted(c Count, now time.Time) (Crossing, bool) {
	if r.MaxRuns > 0 && c.Runs >= r.MaxRuns {
		return Crossing{HaltRuns, fmt.Sprintf("%d of at most %d runs were made", c.Runs, r.MaxRuns)}, true
	}
	return r.day(c.Day.on(now), func(used, most int64) bool { return used >= most })
}
