package loop

import (
	"strings"
	"testing"
	"time"
)

// atWork is a loop whose run is at work, under a good lease.
func atWork(t *testing.T) (*world, Tick) {
	t.Helper()
	w := fresh(t)
	tick := w.claim()
	w.work(tick)
	w.refused(Reap{Tick: tick}, LeaseLive)
	w.refused(FinishLanding{Tick: tick}, WrongPhase)
	return w, tick
}

// beat is a heartbeat now.
func (w *world) beat() { w.f.Beat = w.beatNow() }

func (w *world) beatNow() *Beat {
	return &Beat{Token: w.s.Token, Boot: w.f.Here.Boot, Up: w.f.Here.Up, At: w.now}
}

// Row 14: killed after the claim: where its process is gone it is reaped at
// once, else when the lease is over; the token is burnt and one failure counts.
func TestKilledAfterClaim_Row14(t *testing.T) {
	w := fresh(t)
	tick := w.claim()
	w.sleep(30 * time.Second)
	w.refused(Reap{Tick: tick}, LeaseLive)
	w.f.Runner = Gone
	w.shown(StatusLost)
	w.skips(SkipBusy) // a tick reaps first, in a commit of its own
	w.do(Reap{Tick: tick})
	want(t, "failures", w.s.Count.Failures, 1)
	want(t, "runs", w.s.Count.Runs, 0)
	want(t, "orphans", w.s.Orphans, nil)
	w.refused(w.beginWork(tick), StaleToken)
	w.refused(Reap{Tick: tick}, StaleToken)
	if !w.told(OnLost) {
		t.Fatal("nobody is told")
	}

	w = fresh(t)
	tick = w.claim()
	w.f.Runner = Unknown
	w.sleep(DefaultLease)
	w.refused(Reap{Tick: tick}, LeaseLive)
	w.sleep(time.Millisecond)
	w.do(Reap{Tick: tick})
}

// Row 15: the runner was killed and its work lives on. The token is burnt first;
// no claim is made while the group is alive or cannot be told; an operator's
// word is taken where nothing can be proven, and never against the evidence.
func TestOrphan_Row15(t *testing.T) {
	w, tick := atWork(t)
	w.f.Runner = Gone
	w.do(Reap{Tick: tick, Usage: Usage{Time: Span(time.Minute)}})
	want(t, "orphan", w.s.Orphans[0].Group, group)
	w.sleep(time.Hour)
	w.refused(Bury{Token: 7}, NoOrphan)
	bury := Bury{By: By{Who: "kim"}, Token: tick.Token, AssumeDead: true, Reason: "looked"}
	w.f.Orphans[tick.Token] = Alive
	w.refused(w.firing(), OrphanAlive)
	w.refused(bury, OrphanAlive)
	w.f.Orphans[tick.Token] = Unknown
	w.refused(w.firing(), OrphanAlive)
	w.refused(Bury{Token: tick.Token}, OrphanAlive)
	w.refused(Bury{Token: tick.Token, AssumeDead: true}, ReasonRequired)
	w.refused(Bury{By: By{Inside: "deps/1"}, Token: tick.Token, AssumeDead: true, Reason: "r"}, InsideRun)
	if next := w.shown(StatusReady).Next; !strings.Contains(next, "recover") {
		t.Fatalf("next: %s", next)
	}
	w.do(bury)
	w.claim()

	w, tick = atWork(t)
	w.f.Runner = Gone
	w.do(Reap{Tick: tick})
	w.sleep(time.Hour)
	w.f.Orphans[tick.Token] = Gone
	w.claim() // seen dead under the claim's own lock
	want(t, "orphans", len(w.s.Orphans), 0)
}

// Row 16: killed while its result was verified: the run is discarded, counted
// once, and what it used is charged once.
func TestKilledInVerify_Row16(t *testing.T) {
	w := fresh(t)
	tick := w.verified()
	w.f.Runner = Gone
	w.do(Reap{Tick: tick, Usage: Usage{Time: Span(time.Hour)}})
	want(t, "runs", w.s.Count.Runs, 1)
	want(t, "charged", w.s.Count.Total.Time, Span(time.Minute))
}

// Rows 17 and 18: killed around the swap of the branch. A landing is finished,
// not reaped: at the old commit the swap comes first, at the new one the books
// are closed, with one run; anywhere else somebody moved the branch.
func TestKilledInLanding_Row17_Row18(t *testing.T) {
	w := fresh(t)
	tick := w.landing()
	result := w.s.Claim.Result
	w.refused(FinishLanding{Tick: tick, Head: result}, LeaseLive)
	w.f.Runner = Gone
	w.refused(Reap{Tick: tick}, WrongPhase)
	w.refused(CancelRun{Tick: tick, Signal: "INT"}, WrongPhase)
	w.refused(FinishLanding{Tick: tick, Head: "base"}, NotLanded)
	w.do(FinishLanding{Tick: tick, Head: result})
	want(t, "runs", w.s.Count.Runs, 1)
	want(t, "recovered", w.s.Last.Run.Recovered, true)
	want(t, "result", w.s.Last.Run.Result, EndSuccess)
	w.refused(FinishRun{Tick: tick, Head: result}, StaleToken)
	w.refused(FinishLanding{Tick: tick, Head: result}, StaleToken)

	w = fresh(t)
	tick = w.landing()
	w.f.Runner = Gone
	w.do(FinishLanding{Tick: tick, Head: ""})
	w.halted(HaltBranchMoved)
}

// A goal that was met before the landing is not forgotten by who finishes it.
func TestGoalSurvivesCrash_Row18(t *testing.T) {
	w := fresh(t)
	tick := w.verified()
	landing := w.beginLanding(tick)
	landing.Goal = true
	w.do(landing)
	w.f.Runner = Gone
	w.do(FinishLanding{Tick: tick, Head: w.s.Claim.Result})
	w.shown(StatusDone)
	w.skips(SkipDone)
	if !w.told(OnDone) {
		t.Fatal("nobody is told")
	}
	w.refused(Clear{Code: HaltCrashed}, HaltChanged)
	w.do(Clear{By: By{Who: "kim"}, Code: DoneCode})
	w.claim()
}

// Row 23, FencedZombie: a runner that was overtaken can neither go on in any
// phase nor end anything; nor can one of a loop that was made anew (row 32).
func TestOvertaken_Row23_Row32(t *testing.T) {
	w, old := atWork(t)
	w.sleep(2 * DefaultLease)
	w.do(Reap{Tick: old})
	w.f.Orphans[old.Token] = Gone
	w.sleep(time.Hour)
	w.f.Runner = Alive
	rival := w.claim()
	w.work(rival)
	before := encode(t, w.s)
	for _, x := range []transition{
		w.beginWork(old), BeginVerify{Tick: old}, BeginLanding{Tick: old}, FinishRun{Tick: old}, FailRun{Tick: old}, FailVerify{Tick: old},
		HitLimit{Tick: old}, CancelRun{Tick: old, Signal: "TERM"}, CloseGate{Tick: old}, Ask{Tick: old}, Reap{Tick: old}, FinishLanding{Tick: old},
	} {
		w.refused(x, StaleToken)
	}
	rival.UID = "another"
	w.refused(FailRun{Tick: rival}, LoopReplaced)
	want(t, "state", encode(t, w.s), before)
}

// Row 24: a machine that slept past the lease, and no rival: the runner renews
// first, and the claim lives on with the same token.
func TestSleepWithoutRival_Row24(t *testing.T) {
	w, tick := atWork(t)
	w.sleep(8 * time.Hour)
	want(t, "over", w.s.Standing(w.f, w.now).Over, true)
	w.beat()
	w.refused(Reap{Tick: tick}, LeaseLive)
	w.verify(tick)

	for _, c := range []struct {
		since, slept time.Duration
		pulse        Pulse
	}{
		{0, 0, Rest}, {29 * time.Second, 0, Rest}, {30 * time.Second, 0, DoBeat}, {74 * time.Second, 0, DoBeat},
		{75 * time.Second, 0, StopWork}, {time.Hour, 0, StopWork}, {time.Hour, time.Hour, BeatOrStop}, {40 * time.Second, 20 * time.Second, DoBeat},
	} {
		want(t, c.since.String(), PulseAt(DefaultLease, c.since, c.slept), c.pulse)
	}
}

// Row 25, ClockJumps: within a boot the wall clock may say what it likes; across
// machines a renewal in the future is a warning, and no eternal life.
func TestClockJumps_Row25(t *testing.T) {
	w, tick := atWork(t)
	for _, jump := range []time.Duration{-1000 * time.Hour, 1000 * time.Hour} {
		w.now = epoch.Add(jump)
		want(t, "live", w.s.Standing(w.f, w.now).Over, false)
		w.refused(Reap{Tick: tick}, LeaseLive)
	}
	w.now = epoch
	w.f.Here.Up += Span(DefaultLease + 1)
	w.do(Reap{Tick: tick})

	w, tick = atWork(t)
	w.f.Here = Place{Host: "elsewhere", Boot: "c", Up: 1}
	w.f.Runner = Gone // a process of that id: on this machine that says nothing
	for after, over := range map[time.Duration]bool{
		0: false, 2 * DefaultLease: false, 2*DefaultLease + 1: true,
		-time.Minute: false, -2*DefaultLease - 1: true, -1000 * time.Hour: true,
	} {
		w.now = epoch.Add(after)
		standing := w.s.Standing(w.f, w.now)
		want(t, "over after "+after.String(), standing.Over, over)
		want(t, "warning after "+after.String(), standing.Warning != "", after < 0)
	}
	w.now = epoch.Add(time.Hour)
	w.do(Reap{Tick: tick})
	want(t, "orphan", len(w.s.Orphans), 1) // on the other machine: it cannot be told from here
}

// The clock since the boot never runs backwards: a beat from its future is none.
func TestBeatFromTheFuture_Row25(t *testing.T) {
	w, tick := atWork(t)
	w.beat()
	w.f.Beat.Up += Span(1000 * time.Hour)
	standing := w.s.Standing(w.f, w.now)
	if !standing.Over || standing.Warning == "" {
		t.Fatalf("%+v", standing)
	}
	w.f.Beat.Token++ // of another token: it says nothing about this one
	w.refused(Reap{Tick: tick}, LeaseLive)
}

// A clock set back does not make a short backoff a long one, nor a slot that was
// seen one that keeps all others out.
func TestClockSetBack_Row25(t *testing.T) {
	w := fresh(t)
	w.def.Schedule = every(30 * time.Minute)
	w.do(FailRun{Tick: w.claim(), Why: "exit_status"})
	w.now = w.now.Add(-1000 * time.Hour)
	w.claim()
}

// Row 26: a process of the same id is the runner only by its start time and boot
// too; who reads the facts says Gone for another one, and that suffices.
func TestPidReused_Row26(t *testing.T) {
	w, tick := atWork(t)
	w.f.Runner = Gone
	standing := w.s.Standing(w.f, w.now)
	want(t, "proven", standing.Proven, true)
	w.do(Reap{Tick: tick})
}

// Row 27: after a restart the first tick reaps, and no process of the old boot
// is looked for.
func TestReboot_Row27(t *testing.T) {
	w, tick := atWork(t)
	w.f.Here = Place{Host: "h", Boot: "c", Up: Span(time.Second)}
	w.f.Runner = Unknown
	standing := w.s.Standing(w.f, w.now)
	want(t, "proven", standing.Proven, true)
	w.do(Reap{Tick: tick})
	want(t, "orphans", w.s.Orphans, nil)
	w.sleep(time.Minute)
	w.claim()
}

// A run that was to end anyway is no failure when it is lost.
func TestLostWhileCanceled_Row5(t *testing.T) {
	w, tick := atWork(t)
	w.do(Pause{By: By{Who: "kim"}, Now: true})
	w.f.Runner = Gone
	w.do(Reap{Tick: tick})
	want(t, "failures", w.s.Count.Failures, 0)
	want(t, "result", w.s.Last.Run.Result, EndCanceled)
}

// The third loss in a row halts the loop as crashed.
func TestCrashedAtTheLimit(t *testing.T) {
	w := fresh(t)
	for i := range 3 {
		w.f.Runner = Alive
		tick := w.claim()
		w.f.Runner = Gone
		w.do(Reap{Tick: tick})
		if i < 2 {
			w.shown(StatusBackoff)
		}
		w.sleep(time.Hour)
	}
	w.halted(HaltCrashed)
}
