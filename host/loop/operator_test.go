package loop

import (
	"strings"
	"testing"
	"time"
)

// Row 34: a loop is made once.
func TestCreate_Row34(t *testing.T) {
	w := fresh(t)
	w.refused(Create{By: By{Who: "ann"}, UID: "u2", Name: "deps"}, Exists)
	w.shown(StatusReady)
	want(t, "state", w.s, State{UID: "u1", Name: "deps", Schema: 1, Revision: 1, Created: epoch, Control: Control{Desired: Active}})
}

// Row 33, E1: nothing can be done with what is no loop.
func TestUntracked_Row33(t *testing.T) {
	w := fresh(t)
	w.s = State{}
	tick := Tick{UID: "u1", Token: 1}
	for _, x := range []transition{
		w.firing(), Pause{}, Resume{}, Approve{}, Deny{}, Clear{}, Retire{}, Remove{}, MarkSent{}, Bury{},
		Reap{Tick: tick}, FinishLanding{Tick: tick}, FinishRun{Tick: tick},
	} {
		w.refused(x, Untracked)
	}
}

// A pause may end by itself; a further pause says anew why.
func TestPauseUntil(t *testing.T) {
	w := fresh(t)
	w.refused(Pause{By: By{Who: "kim"}, Until: w.now}, BadRequest)
	w.do(Pause{By: By{Who: "kim"}, Reason: "lunch", Until: w.now.Add(time.Hour)})
	if next := w.shown(StatusPaused).Next; !strings.Contains(next, "resume deps") || !strings.Contains(next, "2026-03-02T11:00:30Z") {
		t.Fatalf("next: %s", next)
	}
	w.skips(SkipPaused)
	w.do(Pause{By: By{Who: "lee"}, Reason: "release", Until: w.now.Add(2 * time.Hour)})
	w.sleep(time.Hour)
	w.skips(SkipPaused)
	w.sleep(time.Hour)
	w.shown(StatusReady)
	w.claim()
	want(t, "desired", w.s.Control.Desired, Active)
}

// Resume and clear end what the person saw, and nothing else.
func TestResumeAndClear(t *testing.T) {
	w := fresh(t)
	w.refused(Resume{By: By{Who: "kim"}}, NotPaused)
	w.refused(Clear{By: By{Who: "kim"}, Code: HaltVerify}, NotHalted)
	tick := w.verified()
	w.do(Pause{By: By{Who: "kim"}})
	w.do(FailVerify{Tick: tick, Verdict: "v"})
	w.halted(HaltVerify)
	w.refused(Resume{By: By{Who: "kim"}}, IsHalted)
	w.refused(Clear{By: By{Who: "kim"}, Code: HaltCrashed}, HaltChanged)
	w.refused(Clear{By: By{Who: "kim"}}, HaltChanged)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltVerify})
	w.shown(StatusPaused) // the pause is another decision
	w.do(Resume{By: By{Who: "kim"}})
	w.claim()
}

// A retired loop begins nothing; what is at work goes on to its end, or with
// Now is canceled; only then is the loop removed.
func TestRetireAndRemove(t *testing.T) {
	w := fresh(t)
	w.refused(Remove{By: By{Who: "kim"}}, NotRetired)
	tick := w.claim()
	w.work(tick)
	w.do(Retire{By: By{Who: "kim"}, Reason: "not needed"})
	want(t, "again", len(w.do(Retire{By: By{Who: "lee"}})), 0)
	w.shown(StatusStopping)
	w.refused(Remove{By: By{Who: "kim"}, Force: true}, ClaimLive)
	w.refused(Pause{By: By{Who: "kim"}}, IsRetired)
	w.refused(Resume{By: By{Who: "kim"}}, IsRetired)
	w.skips(SkipRetired)
	w.do(Retire{By: By{Who: "kim"}, Now: true})
	want(t, "cancel", w.s.Control.Cancel, tick.Token)
	w.f.Runner = Gone
	w.shown(StatusLost)
	w.do(Reap{Tick: tick}) // also when retired
	w.shown(StatusRetired)
	w.refused(Remove{By: By{Who: "kim"}, Force: true}, OrphanAlive)
	w.f.Orphans[tick.Token] = Gone
	w.f.Unlanded = []string{"abc"}
	w.refused(Remove{By: By{Who: "kim"}}, Unlanded)
	w.f.Unlanded = []string{"abc", "def"}
	w.refused(Remove{By: By{Who: "kim"}}, Unlanded)
	w.do(Remove{By: By{Who: "kim"}, Force: true})
	w.refused(Pause{}, Untracked)
}

// Row 21: a notice stays due until it was sent, once for each thing to tell.
func TestNotices_Row21(t *testing.T) {
	w := fresh(t)
	w.do(FailVerify{Tick: w.verified(), Verdict: "v"})
	w.skips(SkipHalted)
	want(t, "due", w.s.Due, []Notice{{Key: "1/halted", On: OnHalted, Detail: "verify_failed", At: epoch}})
	want(t, "unknown", len(w.do(MarkSent{Keys: []string{"2/halted"}})), 0)
	w.do(MarkSent{Keys: []string{"1/halted", "2/halted"}})
	want(t, "due", len(w.s.Due), 0)
	want(t, "again", len(w.do(MarkSent{Keys: []string{"1/halted"}})), 0)
	for i := range 3 * maxDue {
		w.s = Evolve(w.s, Meta{}, Noticed{Key: string(rune('a' + i))})
	}
	want(t, "bounded", len(w.s.Due), maxDue)
}

// Nobody's success for longer than was promised is told once, until one comes.
func TestOverdue(t *testing.T) {
	w := fresh(t)
	w.def.Notify.OverdueAfter = 26 * time.Hour
	w.sleep(26 * time.Hour)
	want(t, "overdue", w.s.Overdue(26*time.Hour, w.now), false)
	w.sleep(time.Second)
	want(t, "overdue", w.s.Overdue(26*time.Hour, w.now), true)
	want(t, "no promise", w.s.Overdue(0, w.now), false)
	w.do(CloseGate{Tick: w.claim()})
	want(t, "told", w.told(OnOverdue), true)
	w.do(MarkSent{Keys: []string{w.s.Due[0].Key}})
	w.do(CloseGate{Tick: w.claim()})
	want(t, "told again", w.told(OnOverdue), false)
	w.succeed()
	w.sleep(27 * time.Hour)
	w.claim()
	want(t, "told of the next time", w.told(OnOverdue), true)
}

// Row 12, S4: to look at a loop changes nothing and depends on no lock: what is
// shown comes from state and facts alone.
func TestShown_Row12(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToLand}
	id := w.asking(ToLand)
	before := encode(t, w.s)
	if shown := w.shown(StatusWaiting); !strings.Contains(shown.Why, id) || !strings.Contains(shown.Next, "approve deps") {
		t.Fatalf("%+v", shown)
	}
	w.f.Definition = "edited"
	if shown := w.shown(StatusWaiting); !strings.Contains(shown.Next, "asks anew") {
		t.Fatalf("%+v", shown)
	}
	want(t, "state", encode(t, w.s), before)
}

// A loop that rests after a failure goes on at once where a person says so; what is not
// at rest has nothing to be cleared.
func TestClearBackoff(t *testing.T) {
	w := fresh(t)
	tick := w.claim()
	w.work(tick)
	w.do(FailRun{Tick: tick, Why: "timeout"})
	w.skips(SkipBackoff)
	w.do(Clear{By: By{Who: "kim"}, Code: BackoffCode})
	w.refused(Clear{By: By{Who: "kim"}, Code: BackoffCode}, NotHalted)
	w.claim()
	if w.s.Count.Failures != 1 {
		t.Errorf("the failure is forgotten: %+v", w.s.Count)
	}
}
