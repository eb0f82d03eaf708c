package schedule

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func parsed(t *testing.T, r Rule) *Times {
	t.Helper()
	times, err := Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Skip("no time zones here")
	}
	return loc
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ cron, after, next string }{
		{"0 2 * * 1-5", "2026-03-06T02:00:00Z", "2026-03-09T02:00:00Z"}, // Friday to Monday
		{"*/15 * * * *", "2026-03-06T02:00:00Z", "2026-03-06T02:15:00Z"},
		{"*/15 * * * *", "2026-03-06T01:59:59Z", "2026-03-06T02:00:00Z"},
		{"5/20 * * * *", "2026-03-06T02:25:00Z", "2026-03-06T02:45:00Z"},
		{"0 9-17/4 * * *", "2026-03-06T13:30:00Z", "2026-03-06T17:00:00Z"},
		{"0 0 1,15 * *", "2026-01-15T00:00:00Z", "2026-02-01T00:00:00Z"},
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 31 * *", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"},
		{"0 0 13 * 5", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z"}, // the 13th, or a Friday
		{"0 0 * jan,DEC sun", "2026-12-31T00:00:00Z", "2027-01-03T00:00:00Z"},
		{"0 0 * * 7", "2026-03-02T00:00:00Z", "2026-03-08T00:00:00Z"},
		{"0 0 * * 0", "2026-03-02T00:00:00Z", "2026-03-08T00:00:00Z"},
		{"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
	} {
		times := parsed(t, Rule{Cron: c.cron})
		if got := times.Next(at(t, c.after), time.UTC); !got.Equal(at(t, c.next)) {
			t.Errorf("%s after %s: %s, want %s", c.cron, c.after, got.Format(time.RFC3339), c.next)
		}
		if got := times.Last(at(t, c.next), time.UTC); !got.Equal(at(t, c.next)) {
			t.Errorf("%s last at %s: %s", c.cron, c.next, got.Format(time.RFC3339))
		}
	}
}

// An interval with a calendar form has its times on the clock; one without is
// counted from 1970.
func TestEvery(t *testing.T) {
	for _, c := range []struct {
		every    time.Duration
		calendar bool
		next     string // after 10:07
	}{
		{time.Minute, true, "10:08"}, {15 * time.Minute, true, "10:15"}, {time.Hour, true, "11:00"}, {6 * time.Hour, true, "12:00"},
		{24 * time.Hour, true, "00:00"}, {45 * time.Minute, false, "10:30"}, {7 * time.Hour, false, "10:00"}, {90 * time.Minute, false, "10:30"},
		{48 * time.Hour, false, "00:00"},
	} {
		times := parsed(t, Rule{Every: c.every})
		if times.IsCalendar() != c.calendar {
			t.Errorf("%v: calendar %t", c.every, times.IsCalendar())
		}
		next := times.Next(at(t, "2026-03-02T10:07:00Z"), time.UTC)
		if got := next.Format("15:04"); c.every != 7*time.Hour && got != c.next {
			t.Errorf("%v: next at %s, want %s", c.every, got, c.next)
		}
		if !c.calendar && next.Unix()%int64(c.every/time.Second) != 0 {
			t.Errorf("%v: %v is no multiple", c.every, next)
		}
	}
	if last := parsed(t, Rule{Every: 45 * time.Minute}).Last(time.Unix(-1, 0), time.UTC); last.Unix() != -45*60 {
		t.Errorf("before 1970: %v", last)
	}
}

func TestNearest(t *testing.T) {
	for every, want := range map[time.Duration][2]time.Duration{
		45 * time.Minute: {30 * time.Minute, time.Hour}, 7 * time.Hour: {6 * time.Hour, 8 * time.Hour},
		13 * time.Minute: {12 * time.Minute, 15 * time.Minute}, 48 * time.Hour: {24 * time.Hour, 0}, time.Hour: {time.Hour, time.Hour},
	} {
		if below, above := Nearest(every); below != want[0] || above != want[1] {
			t.Errorf("%v: %v and %v, want %v", every, below, above, want)
		}
	}
}

// A change of clocks neither loses a time of the day nor makes it twice; a rule
// that leaves the hour open keeps its pace.
func TestClockChange_Row45(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		cron, from, to string
		want           []string
	}{
		{"30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"0,30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", []string{"2026-03-29T01:00:00Z"}},
		{"30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"0 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T02:30:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
		{"30 * * * *", "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
	} {
		times := parsed(t, Rule{Cron: c.cron})
		var got []string
		for m := times.Next(at(t, c.from), berlin); m.Before(at(t, c.to)); m = times.Next(m, berlin) {
			got = append(got, m.UTC().Format(time.RFC3339))
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %v, want %v", c.cron, got, c.want)
		}
		if n := times.Between(at(t, c.from), at(t, c.to), berlin, 100); n != len(c.want) {
			t.Errorf("%s: %d between, want %d", c.cron, n, len(c.want))
		}
	}
}

// What is no rule is refused with what would be one.
func TestBadRules(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		says string
	}{
		{Rule{}, "every"},
		{Rule{Every: time.Hour, Cron: "* * * * *"}, "not both"},
		{Rule{Every: -time.Hour}, "whole minutes from 1m"},
		{Rule{Every: 30 * time.Second}, "whole minutes from 1m"},
		{Rule{Every: 90 * time.Second}, "whole minutes from 1m"},
		{Rule{Every: 400 * 24 * time.Hour}, "to 8784h"},
		{Rule{Cron: "* * * *"}, "4 fields"},
		{Rule{Cron: "@daily"}, "1 fields"},
		{Rule{Cron: "* * * * * *"}, "6 fields"},
		{Rule{Cron: "60 * * * *"}, `minute: "60" must be from 0 to 59`},
		{Rule{Cron: "* 24 * * *"}, "hour"},
		{Rule{Cron: "* * 0 * *"}, "day of month"},
		{Rule{Cron: "* * * foo *"}, "or jan to dec"},
		{Rule{Cron: "* * * * 8"}, "day of week"},
		{Rule{Cron: "*/0 * * * *"}, "step"},
		{Rule{Cron: "*/x * * * *"}, "step"},
		{Rule{Cron: "9-5 * * * *"}, "ends before it begins"},
		{Rule{Cron: "1, * * * *"}, "minute"},
		{Rule{Cron: "+1 * * * *"}, "minute"},
		{Rule{Cron: "1- * * * *"}, "minute"},
		{Rule{Cron: "0 0 30 2 *"}, "never comes"},
		{Rule{Cron: "0 0 31 4,6 *"}, "never comes"},
	} {
		if _, err := Parse(c.rule); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.says)
		}
	}
}

// Next, Last and Between agree, in zones with changes of clocks of all kinds.
func TestTimesAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		loc := zone(t, rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu"}).Draw(rt, "zone"))
		rule := rapid.SampledFrom([]Rule{
			{Every: 30 * time.Minute}, {Every: 45 * time.Minute}, {Every: 6 * time.Hour}, {Cron: "30 2 * * *"}, {Cron: "0 0 * * *"}, {Cron: "15 1-3 * * 0"},
		}).Draw(rt, "rule")
		times := parsed(t, rule)
		from := time.Unix(rapid.Int64Range(1e9, 2e9).Draw(rt, "from"), 0)
		next := times.Next(from, loc)
		if !next.After(from) || !times.Last(next, loc).Equal(next) {
			rt.Fatalf("%v after %v in %v: %v, whose last is %v", rule, from, loc, next, times.Last(next, loc))
		}
		if last := times.Last(from, loc); last.After(from) || !times.Next(last, loc).Equal(next) {
			rt.Fatalf("%v at %v in %v: last %v, then %v; next %v", rule, from, loc, last, times.Next(last, loc), next)
		}
		third := times.Next(times.Next(next, loc), loc)
		if n := times.Between(from, third, loc, 100); n != 2 {
			rt.Fatalf("%v from %v to %v in %v: %d between", rule, from, third, loc, n)
		}
	})
}

// A sleep of a year is counted as fast as a tick must be.
func TestBetweenIsBounded(t *testing.T) {
	times := parsed(t, Rule{Every: time.Minute})
	from := at(t, "2026-03-02T10:00:00Z")
	if n := times.Between(from, from.AddDate(1, 0, 0), time.UTC, 1000); n != 1000 {
		t.Fatalf("%d", n)
	}
	if n := times.Between(from, from, time.UTC, 1000); n != 0 {
		t.Fatalf("%d", n)
	}
}
