package loop

import (
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// Row 44: a machine asleep over many slots: the newest is made up for once, if
// its window is open; the rest are counted as missed.
func TestAsleepOverSlots_Row44(t *testing.T) {
	w := fresh(t)
	w.def.Schedule = every(30 * time.Minute)
	w.succeed()
	want(t, "slot", w.s.Last.Slot, time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
	w.sleep(5*time.Hour + 10*time.Minute)
	w.succeed()
	want(t, "slot", w.s.Last.Slot, time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC))
	want(t, "missed", w.s.Count.Missed, 9)
	w.skips(SkipSlotSeen)
	want(t, "missed", w.s.Count.Missed, 9)
}

// Row 44: outside of the window, or where nothing is made up for, a late firing
// is missed too, and counted.
func TestLateFiring_Row44(t *testing.T) {
	w := fresh(t)
	w.def.Schedule = every(24 * time.Hour)
	w.succeed()
	w.sleep(24*time.Hour - 3*time.Hour) // 07:00:30, seven hours late
	w.skips(SkipSlotMissed)
	want(t, "missed", w.s.Count.Missed, 1)
	w.sleep(22 * time.Hour) // 05:00:30 of the next day
	w.succeed()

	w = fresh(t)
	w.def.Schedule = every(30 * time.Minute)
	w.def.Schedule.CatchUp = false
	w.succeed()
	w.sleep(32 * time.Minute)
	w.skips(SkipSlotMissed)
	w.sleep(28 * time.Minute)
	w.succeed()
}

// Row 45: a slot that comes twice is served once. In the hour that a change of
// clocks repeats, a time of the day is the same slot.
func TestSlotTwice_Row45(t *testing.T) {
	w := fresh(t)
	w.def.Schedule = Schedule{Rule: schedule.Rule{Cron: "30 2 * * *"}}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	at := func(now time.Time) ClaimLoop {
		w.now = now
		firing := w.firing()
		firing.Zone = berlin
		return firing
	}
	// 2026-10-25 03:00 becomes 02:00 in Berlin; 02:30 is at 00:30 and 01:30 UTC.
	w.do(at(time.Date(2026, 10, 25, 0, 30, 1, 0, time.UTC)))
	w.do(CloseGate{Tick: Tick{UID: "u1", Token: 1}})
	w.skipped(at(time.Date(2026, 10, 25, 0, 30, 2, 0, time.UTC)), SkipSlotSeen)
	w.skipped(at(time.Date(2026, 10, 25, 1, 30, 1, 0, time.UTC)), SkipSlotSeen)
	want(t, "missed", w.s.Count.Missed, 0)
	w.do(at(time.Date(2026, 10, 26, 1, 30, 1, 0, time.UTC)))
	want(t, "token", w.s.Token, 2)
}

// A firing a moment before its slot is that slot's, not a second one of the slot
// before.
func TestEarlyFiring(t *testing.T) {
	w := fresh(t)
	w.def.Schedule = every(30 * time.Minute)
	w.succeed()
	w.now = time.Date(2026, 3, 2, 10, 29, 59, 0, time.UTC)
	w.succeed()
	w.now = time.Date(2026, 3, 2, 10, 30, 1, 0, time.UTC)
	w.skips(SkipSlotSeen)
}

// Row 45: min_gap keeps two claims apart; a person is not held against it, nor
// against slots.
func TestMinGap_Row45(t *testing.T) {
	w := fresh(t)
	w.def.Schedule.MinGap = 5 * time.Minute
	w.succeed()
	w.sleep(4 * time.Minute)
	w.skips(SkipMinGap)
	byHand := w.firing()
	byHand.ByHand = true
	w.def.Schedule = every(30 * time.Minute)
	w.do(byHand)
	want(t, "token", w.s.Token, 2)
	want(t, "slot", w.s.Claim.Slot, time.Time{})
}
