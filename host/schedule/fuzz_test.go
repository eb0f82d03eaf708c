package schedule

import (
	"testing"
	"time"
)

// FuzzParse: whatever somebody writes as a cron line is refused, or has times that
// come after one another.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"0 2 * * 1-5", "*/15 0-23/2 1,15 * *", "0 0 29 2 1", "60 * * * *", "* * * *", "@daily", "5-1 * * * *", "*/0 * * * *", "١ * * * *"} {
		f.Add(line)
	}
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, line string) {
		times, err := Parse(Rule{Cron: line})
		if err != nil {
			return
		}
		next := times.Next(from, time.UTC)
		if next.IsZero() {
			return
		}
		if last := times.Last(next, time.UTC); !next.After(from) || !last.Equal(next) {
			t.Fatalf("%q: after %v comes %v, whose last is %v", line, from, next, last)
		}
	})
}
