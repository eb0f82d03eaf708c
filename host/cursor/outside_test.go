package cursor

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

// twin is one run in each source, taken through the same transitions.
type twin struct{ journal, log *run }

func newTwin(t fataler, ids ...string) twin {
	def := dev()
	log := facts(def, packages(ids...)...)
	log.Source = KittySpecs
	for i := range log.Packages {
		log.Packages[i].Lane = mission.Planned
	}
	w := twin{begin(t, facts(def, packages(ids...)...), nil), begin(t, log, nil)}
	for w.journal.s.Cursor.Step != "implement" {
		w.both(func(r *run) transition { return r.onward() })
	}
	return w
}

// onward is what takes a run that has no package out to its next step.
func (r *run) onward() transition {
	for _, q := range r.s.Cursor.Questions {
		return Give{Who: "human:o", Human: "o", Decision: q.ID, Token: q.Token, Value: "sqlite", Tokens: r.tokens()}
	}
	if len(r.s.Issues()) > 0 {
		return r.own("owner", Success)
	}
	return r.asking("owner")
}

// both takes both runs through a transition and wants one outcome: the same
// refusal or the same events, and then the same lanes and people.
func (w twin) both(make func(*run) transition) (done bool) {
	t := w.journal.t
	t.Helper()
	a, errA := w.journal.try(make(w.journal))
	b, errB := w.log.try(make(w.log))
	if fmt.Sprint(errA) != fmt.Sprint(errB) {
		t.Fatalf("the journal says %v, the log %v", errA, errB)
	}
	if one, other := w.told(w.journal), w.told(w.log); one != other {
		t.Fatalf("after %v and %v the journal has\n%s\nthe log\n%s", kinds(a), kinds(b), one, other)
	}
	return errA == nil && len(a) > 0
}

// told is what a run says of its packages.
func (w twin) told(r *run) string {
	text := string(r.s.Phase) + " " + r.s.Cursor.Step
	for _, p := range r.f.Packages {
		text += fmt.Sprintf("\n%s %s of %s by %s attempts %v", p.ID, r.s.lane(r.f, p.ID), r.s.HolderOf(r.f, p.ID), r.s.AuthorOf(r.f, p.ID), r.s.Packages[p.ID].Attempts)
	}
	for _, name := range []string{"a", "b", "c"} {
		text += "\n" + r.at(name)
	}
	return text
}

// Both sources promise the same: what one run is told and given, the other is,
// through hand-outs, reports, rejections, moves, releases, retries and answers.
func TestSourcesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newTwin(t, "WP01", "WP02", "WP03")
		name := func() string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who") }
		id := func() string { return rapid.SampledFrom([]string{"WP01", "WP02", "WP03"}).Draw(t, "package") }
		t.Repeat(map[string]func(*rapid.T){
			"ask":   func(*rapid.T) { n := name(); w.both(func(r *run) transition { return r.asking(n) }) },
			"claim": func(*rapid.T) { n, p := name(), id(); w.both(func(r *run) transition { return r.claim(n, p) }) },
			"report": func(t *rapid.T) {
				n, result := name(), rapid.SampledFrom([]Result{Success, Success, Failed, Blocked}).Draw(t, "result")
				if len(w.log.s.Held(who(n))) == 1 {
					w.both(func(r *run) transition { return r.own(n, result) })
				}
			},
			"move": func(t *rapid.T) {
				n, p, to := name(), id(), rapid.SampledFrom(mission.Lanes()).Draw(t, "to")
				if rapid.Bool().Draw(t, "force") {
					w.both(func(r *run) transition { return r.forced(n, p, to) })
					return
				}
				w.both(func(r *run) transition { return r.move(n, p, to) })
			},
			"free": func(t *rapid.T) {
				p, whole := id(), rapid.Bool().Draw(t, "whole")
				w.both(func(r *run) transition {
					if whole {
						return ReleasePackage{Who: "ops", Package: p, Reason: "gone"}
					}
					return Release{Who: "ops", Package: p, Reason: "gone"}
				})
			},
			"retry": func(*rapid.T) {
				p := id()
				w.both(func(r *run) transition { return Retry{Who: "ops", Package: p, Tokens: r.tokens()} })
			},
			"": func(*rapid.T) {},
		})
	})
}

// appended lets the first n moves of a transition reach the lane log, and then
// the process dies: the record is not written.
func (r *run) appended(x transition, n int) (moves int) {
	r.t.Helper()
	events, err := x.Decide(r.s, r.f, clock(len(r.log)))
	if err != nil {
		r.t.Fatalf("%s: %v", x.Kind(), err)
	}
	for _, e := range events {
		if m, ok := e.(Moved); ok {
			if moves++; moves <= n {
				r.f = r.f.After(m, Meta{Revision: r.s.Revision + 1, At: clock(len(r.log))})
			}
		}
	}
	return moves
}

// P3, case 33: a crash between the lane log and the record, after each of the
// moves. The same call made again ends where it would have without the crash,
// and makes no move twice.
func TestCrashBetweenLogAndRecord_Case33(t *testing.T) {
	atWork := func(r *run) { r.ask("ann") }
	blocked := func(r *run) { r.ask("ann"); r.must(r.own("ann", Blocked)) }
	cases := map[string]struct {
		before func(*run)
		call   func(*run) transition
	}{
		"hand-out":      {func(*run) {}, func(r *run) transition { return r.asking("ann") }},
		"claim":         {func(*run) {}, func(r *run) transition { return r.claim("ann", "WP02") }},
		"worker":        {func(*run) {}, func(r *run) transition { return r.claim("ann/7", "WP02") }},
		"success":       {atWork, func(r *run) transition { return r.own("ann", Success) }},
		"failed":        {atWork, func(r *run) transition { return r.own("ann", Failed) }},
		"blocked":       {atWork, func(r *run) transition { return r.own("ann", Blocked) }},
		"move":          {atWork, func(r *run) transition { return r.forced("ops", "WP01", mission.Done) }},
		"move, blocked": {atWork, func(r *run) transition { return r.forced("ops", "WP01", mission.Blocked) }},
		"unblock":       {blocked, func(r *run) transition { return r.move("ann", "WP01", mission.InProgress) }},
		"wp release":    {atWork, func(r *run) transition { return ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"} }},
		"wp release, blocked": {blocked, func(r *run) transition {
			return ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"}
		}},
		"run release": {atWork, func(r *run) transition { return Release{Who: "ops", Package: "WP01", Reason: "r"} }},
		"retry":       {blocked, func(r *run) transition { return Retry{Who: "ops", Package: "WP01", Tokens: r.tokens()} }},
		"skip":        {atWork, func(r *run) transition { return Skip{Who: "ops", Step: "implement", Reason: "r", Tokens: r.tokens()} }},
		"abort":       {atWork, func(r *run) transition { return Abort{Who: "ops", Reason: "r"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			one := func() *run {
				r := outside(t, PackageFact{ID: "WP01", Lane: mission.Planned}, PackageFact{ID: "WP02", Lane: mission.Planned})
				c.before(r)
				return r
			}
			whole := one()
			total := moves(whole.must(c.call(whole)))
			if total == 0 {
				t.Fatal("the call moves nothing")
			}
			for n := 1; n <= total; n++ {
				r := one()
				r.appended(c.call(r), n)
				again := moves(r.must(c.call(r)))
				want(t, fmt.Sprintf("after %d moves", n), (twin{}).told(r), (twin{}).told(whole))
				if n+again > total {
					t.Errorf("%d of %d moves, and then %d", n, total, again)
				}
			}
		})
	}
}

func moves(events []Event) (n int) {
	for _, e := range events {
		if _, ok := e.(Moved); ok {
			n++
		}
	}
	return n
}

// Case 33: what a dead claimer's move left is theirs at the next call, and
// nobody else's until it is released.
func TestClaimWithoutIssue_Case33(t *testing.T) {
	r := outside(t, PackageFact{ID: "WP01", Lane: mission.Planned})
	r.appended(r.asking("ann/7"), 2)
	want(t, "bob", r.at("bob"), "stop implement waiting_for_work_packages")
	refusal := r.refused(r.claim("bob", "WP01"), PackageHeld)
	want(t, "with", refusal.Holder, who("ann/7"))
	want(t, "the claimer", r.at("ann/7"), "offer implement WP01")
	r.must(ReleasePackage{Who: "ops", Package: "WP01", Reason: "ann is gone"})
	want(t, "lanes", r.lanes(), "WP01=planned")
	want(t, "bob", r.ask("bob").Package, "WP01")
}
