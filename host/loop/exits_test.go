package loop

import (
	"slices"
	"testing"
	"time"
)

// exits are transitions that ticks, time and people have at hand in any state.
func (w *world) exits() []transition {
	by := By{Who: "kim"}
	all := []transition{
		w.firingNow(), Resume{By: by}, Clear{By: by, Code: w.s.HaltCode()}, Pause{By: by}, Remove{By: by, Force: true},
	}
	if a := w.s.Approval; a != nil {
		all = append(all, Approve{By: by, ID: a.ID}, Deny{By: by, ID: a.ID})
	}
	for _, o := range w.s.Orphans {
		all = append(all, Bury{By: by, Token: o.Token, AssumeDead: true, Reason: "looked"})
	}
	if c := w.s.Claim; c != nil {
		tick := Tick{UID: w.s.UID, Token: c.Token}
		all = append(all, Reap{Tick: tick}, FinishLanding{Tick: tick, Head: c.Result})
	}
	return all
}

func (w *world) firingNow() ClaimLoop {
	firing := w.firing()
	firing.Digest, firing.ByHand = w.f.Definition, true
	return firing
}

// wayOut wants that each state which is not final can be left (P4): by a run's
// own end, or, with its runner dead and time gone by, by what is at hand. A
// retired loop's exit is its removal.
func (w *world) wayOut() {
	w.t.Helper()
	if w.s.Removed {
		return
	}
	trial := *w
	trial.f.Runner = Gone
	trial.sleep(DefaultExpires)
	for range 12 {
		if trial.s.Removed || trial.s.Claim != nil && trial.s.Token > w.s.Token {
			return
		}
		trial.sleep(time.Hour) // longer than any backoff
		trial.step()
	}
	w.t.Fatalf("no way out of %s", encode(w.t, w.s))
}

// step takes the first exit that changes more than a count of skips.
func (w *world) step() {
	for _, x := range w.exits() {
		if _, pause := x.(Pause); pause {
			continue
		}
		events, err := x.Decide(w.s, w.f, w.now)
		skips := func(e Event) bool { _, ok := e.(Skipped); return ok }
		if err != nil || !slices.ContainsFunc(events, func(e Event) bool { return !skips(e) }) {
			continue
		}
		for _, e := range events {
			w.s = Evolve(w.s, Meta{Revision: w.s.Revision + 1, At: w.now, Actor: "kim"}, e)
		}
		if c, ok := x.(Clear); ok && w.s.Count.Runs > 0 { // else limits halt it again
			w.s = Evolve(w.s, Meta{}, Cleared{Code: c.Code, Reset: true})
		}
		return
	}
}

// Each state that a few transitions reach has a way out: an exhaustive walk.
func TestWaysOut(t *testing.T) {
	seen := map[string]bool{}
	var walk func(w *world, depth int)
	walk = func(w *world, depth int) {
		key := encode(t, w.s)
		if seen[key] || depth == 0 {
			return
		}
		seen[key] = true
		w.wayOut()
		for _, x := range w.moves() {
			next := *w
			events, err := x.Decide(w.s, w.f, w.now)
			if err != nil || len(events) == 0 {
				continue
			}
			for _, e := range events {
				next.s = Evolve(next.s, Meta{At: w.now, Actor: "kim"}, e)
				if asked, ok := e.(Asked); ok {
					next.f.Subject = &asked.Subject
				}
			}
			walk(&next, depth-1)
		}
	}
	for _, before := range [][]Stage{nil, {ToStart}, {ToLand}} {
		w := fresh(t)
		w.def.Approval.Before, w.def.Limits.MaxRuns = before, 1
		walk(w, 7)
	}
	if len(seen) < 500 {
		t.Fatalf("%d states: the walk does not get around", len(seen))
	}
}

// moves are what may happen in a state.
func (w *world) moves() []transition {
	by := By{Who: "kim"}
	all := append(w.exits(), Retire{By: by}, Pause{By: by, Until: w.now.Add(time.Hour)})
	c := w.s.Claim
	if c == nil {
		return all
	}
	tick := Tick{By: By{Who: "tick"}, UID: "u1", Token: c.Token}
	all = append(all,
		w.beginWork(tick), w.beginVerify(tick), BeginLanding{Tick: tick, Old: "base", New: c.Result, Tree: c.Tree},
		CloseGate{Tick: tick}, FailRun{Tick: tick, Why: "timeout"}, FailRun{Tick: tick, Why: string(HaltBranchMoved)}, FailVerify{Tick: tick, Verdict: "v"}, CancelRun{Tick: tick, Signal: "INT"},
		FinishRun{Tick: tick, Head: c.Result}, FinishRun{Tick: tick, Head: "x"}, HitLimit{Tick: tick, Crossing: Crossing{Code: HaltCost}},
		Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToStart, Definition: c.Definition, Base: "base"}},
		Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToLand, Definition: c.Definition, Base: c.Base, Result: c.Result, Tree: c.Tree}},
	)
	if g := c.Grant; g != nil {
		all = append(all, BeginLanding{Tick: tick, Old: g.Subject.Base, New: g.Subject.Result, Tree: g.Subject.Tree})
	}
	return all
}
