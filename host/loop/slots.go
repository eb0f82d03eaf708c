package loop

import (
	"time"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// Bounds of how firings are judged.
const (
	early     = 2 * time.Second // schedulers' clocks and ours differ by less
	punctual  = time.Minute     // later than this, and later than the jitter, is late
	maxMissed = 1000            // more are counted as this many
)

// Firing is what a tick's firing is worth to the schedule.
type Firing struct {
	Slot   time.Time // the newest time that was due; zero: no schedule, or by hand
	Seen   bool      // another firing had it
	Late   bool      // it came too late to be made up for
	Missed int       // slots since the last one that had no firing
}

// firing judges a firing by the schedule. Of slots that went by while nobody
// fired (a machine asleep, or off), the newest is made up for, if the
// definition has it so and its window is open; the others are missed.
func (t ClaimLoop) firing(s State, now time.Time) Firing {
	if t.ByHand || t.Definition.Schedule.Rule.IsZero() {
		return Firing{}
	}
	times, err := schedule.Parse(t.Definition.Schedule.Rule)
	if err != nil {
		return Firing{} // a definition is checked before it is claimed with
	}
	zone := t.Zone
	if zone == nil {
		zone = time.UTC
	}
	return Judge(times, t.Definition.Schedule, s.Last.Slot, now, zone)
}

// Judge says what a firing at now is worth, after the last slot that was seen
// (zero: none). A last slot that lies ahead of now was seen by a clock that has
// been set back since; it proves nothing.
func Judge(times *schedule.Times, rule Schedule, last, now time.Time, zone *time.Location) Firing {
	f := Firing{Slot: times.Last(now.Add(early), zone).UTC()}
	if f.Slot.IsZero() || last.IsZero() || last.After(now.Add(early)) {
		return f
	}
	if f.Seen = !f.Slot.After(last); f.Seen {
		return f
	}
	f.Missed = times.Between(last, f.Slot, zone, maxMissed)
	patience := rule.Jitter + punctual
	if rule.CatchUp {
		patience = max(patience, rule.Window)
	}
	if f.Late = now.Sub(f.Slot) > patience; f.Late {
		f.Missed++
	}
	return f
}

// skip is the record of a firing that claims nothing.
func (f Firing) skip(code Code, detail string) *Skipped {
	e := &Skipped{Reason: code, Detail: detail, Slot: f.Slot, Missed: f.Missed}
	if f.Seen {
		e.Slot, e.Missed = time.Time{}, 0
	}
	return e
}
