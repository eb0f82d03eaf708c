package schedule

import (
	"slices"
	"time"
)

// horizon is how far a time is looked for, in days: a 29th of February that is
// a certain weekday comes back within 40 years.
const horizon = 41 * 366

// Next is the first time after a moment, in loc; the zero time where none comes.
func (t *Times) Next(after time.Time, loc *time.Location) time.Time {
	if t.every > 0 {
		return t.last(after).Add(t.every).In(loc)
	}
	y, m, d := after.In(loc).Date()
	for i := range horizon {
		for _, at := range t.cron.day(y, m, d+i, loc) {
			if at.After(after) {
				return at
			}
		}
	}
	return time.Time{}
}

// Last is the newest time that is not after a moment, in loc; the zero time
// where none came.
func (t *Times) Last(at time.Time, loc *time.Location) time.Time {
	if t.every > 0 {
		return t.last(at).In(loc)
	}
	y, m, d := at.In(loc).Date()
	for i := range horizon {
		for _, slot := range slices.Backward(t.cron.day(y, m, d-i, loc)) {
			if !slot.After(at) {
				return slot
			}
		}
	}
	return time.Time{}
}

// last is the newest multiple of the interval, counted from 1970 in UTC: an
// interval without calendar form has no better place to begin.
func (t *Times) last(at time.Time) time.Time {
	every := int64(t.every / time.Second)
	n := at.Unix() / every
	if at.Unix()%every < 0 {
		n--
	}
	return time.Unix(n*every, 0)
}

// Between counts the times after one moment and before another, and stops at a
// limit.
func (t *Times) Between(after, before time.Time, loc *time.Location, limit int) int {
	if !after.Before(before) {
		return 0
	}
	if t.every > 0 {
		n := (before.Add(-time.Nanosecond).Unix() - t.last(after).Unix()) / int64(t.every/time.Second)
		return int(min(n, int64(limit)))
	}
	n := 0
	y, m, d := after.In(loc).Date()
	for i := 0; n < limit && i < horizon; i++ {
		if time.Date(y, m, d+i-1, 0, 0, 0, 0, loc).After(before) {
			break
		}
		for _, at := range t.cron.day(y, m, d+i, loc) {
			if at.After(after) && at.Before(before) {
				n++
			}
		}
	}
	return min(n, limit)
}

// day are the line's moments of one day, in order.
func (f fields) day(y int, m time.Month, d int, loc *time.Location) []time.Time {
	date := time.Date(y, m, d, 12, 0, 0, 0, time.UTC)
	if y, m, d = date.Date(); !f.onDay(int(m), d, int(date.Weekday())) {
		return nil
	}
	var all []time.Time
	for h := range 24 {
		if f.hour&(1<<h) == 0 {
			continue
		}
		for minute := range 60 {
			if f.minute&(1<<minute) != 0 {
				all = append(all, f.moments(time.Date(y, m, d, h, minute, 0, 0, time.UTC), loc)...)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// moments are when clocks in loc show what wall shows in UTC. Twice, where a
// change set the clock back: a line that names hours then means the first, one
// that leaves the hour open both. Never, where it was set forward: a line that
// names hours then means the moment of the change, one that leaves the hour
// open has its next hour anyway. So nothing named is lost and nothing named is
// done twice.
func (f fields) moments(wall time.Time, loc *time.Location) []time.Time {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, loc)
	start, end := near.ZoneBounds()
	shown := readings(wall, near, start, end)
	switch {
	case len(shown) == 0 && f.everyHour():
		return nil
	case len(shown) == 0:
		return []time.Time{nearer(near, start, end)}
	case f.everyHour():
		return shown
	}
	return shown[:1]
}

// readings are the moments that show wall, earliest first, by the offset in
// force around near and those before and after it.
func readings(wall, near, start, end time.Time) []time.Time {
	around := []time.Time{near}
	if !start.IsZero() {
		around = append(around, start.Add(-time.Second))
	}
	if !end.IsZero() {
		around = append(around, end)
	}
	var shown []time.Time
	for _, moment := range around {
		_, offset := moment.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(near.Location())
		if at.Hour() == wall.Hour() && at.Minute() == wall.Minute() && at.Day() == wall.Day() {
			shown = append(shown, at)
		}
	}
	slices.SortFunc(shown, time.Time.Compare)
	return slices.CompactFunc(shown, time.Time.Equal)
}

// nearer is the change of clocks that near lies at.
func nearer(near, start, end time.Time) time.Time {
	if start.IsZero() || !end.IsZero() && end.Sub(near) < near.Sub(start) {
		return end
	}
	return start
}
