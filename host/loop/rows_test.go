package loop

import (
	"testing"
	"time"
)

// The rows are those of the design's table of races and crash points, as far as
// they are decided here.

// Rows 1 and 2, S1: two firings get one token; the other skips, is counted, and
// nothing is queued.
func TestTwoFirings_Row1_Row2(t *testing.T) {
	w := fresh(t)
	w.claim()
	w.skips(SkipBusy)
	w.sleep(time.Hour)
	w.f.Beat = &Beat{Token: 1, Boot: "b", Up: w.f.Here.Up, At: w.now}
	w.skips(SkipBusy)
	want(t, "token", w.s.Token, 1)
	want(t, "skips", w.s.Count.Skips, 2)
	w.shown(StatusRunning)
}

// Row 3, S2: a pause during the work is kept by the run's end, whatever it is.
func TestPauseDuringWork_Row3(t *testing.T) {
	ends := map[string]func(*world, Tick){
		"success": func(w *world, tick Tick) {
			w.verify(tick)
			w.do(w.beginLanding(tick))
			w.do(FinishRun{Tick: tick, Head: w.s.Claim.Result})
		},
		"failure": func(w *world, tick Tick) { w.do(FailRun{Tick: tick, Why: "timeout"}) },
		"limit": func(w *world, tick Tick) {
			w.do(HitLimit{Tick: tick, Crossing: Crossing{Code: HaltContext}})
		},
		"crash": func(w *world, tick Tick) {
			w.f.Runner = Gone
			w.do(Reap{Tick: tick})
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := fresh(t)
			tick := w.claim()
			w.work(tick)
			w.do(Pause{By: By{Who: "kim"}, Reason: "release day"})
			w.shown(StatusPausing)
			end(w, tick)
			want(t, "control", w.s.Control, Control{Desired: Paused, By: "kim", Reason: "release day", At: epoch})
			w.skips(SkipPaused)
		})
	}
}

// Row 4: a pause between a tick's unlocked read and its claim: the claim looks
// at the state as it is then.
func TestPauseBeforeClaim_Row4(t *testing.T) {
	w := fresh(t)
	firing := w.firing() // made on what was read before
	w.do(Pause{By: By{Who: "kim"}})
	w.skipped(firing, SkipPaused)
	want(t, "token", w.s.Token, 0)
}

// Row 5: pause --now names the token; the run ends canceled, no failure counts,
// and no later phase of that run is entered.
func TestPauseNow_Row5(t *testing.T) {
	w := fresh(t)
	tick := w.claim()
	w.work(tick)
	w.refused(CancelRun{Tick: tick}, NotCanceled)
	w.do(Pause{By: By{Who: "kim"}, Reason: "stop it", Now: true})
	want(t, "cancel", w.s.Control.Cancel, tick.Token)
	w.refused(w.beginVerify(tick), IsCanceled)
	w.do(Resume{By: By{Who: "kim"}})
	want(t, "a resume does not take the cancel back", w.s.Control.Cancel, tick.Token)
	w.do(CancelRun{Tick: tick, Usage: Usage{Time: Span(time.Minute)}})
	want(t, "result", w.s.Last.Run.Result, EndCanceled)
	want(t, "failures", w.s.Count.Failures, 0)
	want(t, "charged", w.s.Count.Total.Time, Span(time.Minute))
	w.claim() // the next token is not canceled
	w.work(Tick{UID: "u1", Token: 2})
}

// Row 6: a resume while a run still goes on leaves the run alone.
func TestResumeWhilePausing_Row6(t *testing.T) {
	w := fresh(t)
	tick := w.claim()
	w.work(tick)
	w.do(Pause{By: By{Who: "kim"}})
	w.do(Resume{By: By{Who: "kim"}})
	w.shown(StatusRunning)
	w.skips(SkipBusy)
	w.verify(tick)
}

// Row 7, S3, S6: a decision while a run is in flight is answered at once.
func TestDecisionDuringRun_Row7(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToStart}
	w.refused(Approve{By: By{Who: "kim"}, ID: "q1"}, NothingWaiting)
	id := w.asking(ToStart)
	w.do(Approve{By: By{Who: "kim"}, ID: id})
	w.shown(StatusReady)
	w.claim()
	w.refused(Approve{By: By{Who: "kim"}, ID: id}, NothingWaiting)
	w.refused(Deny{By: By{Who: "kim"}, ID: id}, NothingWaiting)
}

// Row 8: the first decision wins; the second is told who and when.
func TestTwoDecisions_Row8(t *testing.T) {
	for _, second := range []func(By, string) transition{
		func(by By, id string) transition { return Approve{By: by, ID: id} },
		func(by By, id string) transition { return Deny{By: by, ID: id} },
	} {
		w := fresh(t)
		w.def.Approval.Before = []Stage{ToLand}
		id := w.asking(ToLand)
		w.do(Approve{By: By{Who: "kim"}, ID: id})
		at := w.now
		w.sleep(time.Minute)
		refusal := w.refused(second(By{Who: "lee"}, id), AlreadyDecided)
		want(t, "by", refusal.By, "kim")
		want(t, "at", refusal.At, at)

		w = fresh(t)
		w.def.Approval.Before = []Stage{ToLand}
		id = w.asking(ToLand)
		w.do(Deny{By: By{Who: "kim"}, ID: id, Note: "no"})
		w.halted(HaltDenied)
		w.refused(second(By{Who: "lee"}, id), AlreadyDecided)
		w.do(Clear{By: By{Who: "kim"}, Code: HaltDenied})
		w.claim()
	}
}

// Row 9: what was shown changed after the request.
func TestStaleApproval_Row9(t *testing.T) {
	changes := map[string]func(*world){
		"definition": func(w *world) { w.f.Definition = "other" },
		"branch":     func(w *world) { w.f.Subject.Base = "other" },
		"commit":     func(w *world) { w.f.Subject.Result = "other" },
		"verdict":    func(w *world) { w.f.Subject.Verify = "other" },
		"protected":  func(w *world) { w.f.Subject.Protected = []string{"a_test.go"} },
		"gone":       func(w *world) { w.f.Subject = nil },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			w := fresh(t)
			w.def.Approval.Before = []Stage{ToLand}
			id := w.asking(ToLand)
			change(w)
			w.refused(Approve{By: By{Who: "kim"}, ID: id}, StaleApproval)
			w.do(Deny{By: By{Who: "kim"}, ID: id}) // may be denied all the same
		})
		t.Run(name+" after the grant", func(t *testing.T) {
			w := fresh(t)
			w.def.Approval.Before = []Stage{ToLand}
			id := w.asking(ToLand)
			w.do(Approve{By: By{Who: "kim"}, ID: id})
			change(w)
			firing := w.firing()
			firing.Digest = w.f.Definition
			w.do(firing)
			if w.s.Claim != nil && w.s.Claim.Grant != nil {
				t.Fatalf("a stale grant was used: %+v", w.s.Claim.Grant)
			}
			want(t, "claimed anew", w.s.Claim != nil, name != "gone")
		})
	}
}

// Row 9: a stale request is withdrawn by the next tick, which asks anew.
func TestStaleRequestIsWithdrawn_Row9_Row35(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToStart}
	w.asking(ToStart)
	w.skips(SkipWaiting)
	w.shown(StatusWaiting)
	w.f.Definition = "definition-2"
	firing := w.firing()
	firing.Digest = "definition-2"
	w.do(firing)
	want(t, "definition of the new run", w.s.Claim.Definition, "definition-2")
	want(t, "request", w.s.Approval, nil)
}

// Row 10, Case39: a grant is used up by the claim that uses it: one effect, then
// the gate is shut again, and the old request's id opens nothing.
func TestGrantOnce_Row10_Case39(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToLand}
	w.refusedLanding()
	id := w.asking(ToLand)
	result := w.f.Subject.Result
	w.do(Approve{By: By{Who: "kim"}, ID: id})
	tick := w.claim()
	w.skips(SkipBusy)
	want(t, "grant", w.s.Claim.Grant.By, "kim")
	w.refused(w.beginWork(tick), WrongPhase)
	w.refused(BeginLanding{Tick: tick, Old: "base", New: "another"}, StaleApproval)
	w.refused(BeginLanding{Tick: tick, Old: "moved", New: result}, StaleApproval)
	w.do(BeginLanding{Tick: tick, Old: "base", New: result})
	w.do(FinishRun{Tick: tick, Head: result})
	want(t, "runs", w.s.Count.Runs, 2) // with the one whose landing was refused: landing a granted result is none of its own
	second := w.asking(ToLand)
	w.refused(Approve{By: By{Who: "kim"}, ID: id}, StaleApproval)
	w.refused(Deny{By: By{Who: "kim"}, ID: id}, StaleApproval)
	w.do(Approve{By: By{Who: "kim"}, ID: second})
}

// refusedLanding is a run that tries to land without the approval it needs.
func (w *world) refusedLanding() {
	w.t.Helper()
	tick := w.verified()
	w.refused(w.beginLanding(tick), NeedsApproval)
	w.do(FailRun{Tick: tick, Why: "exit_status"})
	w.sleep(time.Hour)
}

// Row 11: in the second in which a request expires it is over, by one reading of
// the clock; one nanosecond before it is not.
func TestExpirySecond_Row11(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToLand}
	id := w.asking(ToLand)
	expires := w.s.Approval.Expires
	want(t, "expires", expires, w.now.Add(72*time.Hour))
	w.now = expires
	w.refused(Approve{By: By{Who: "kim"}, ID: id}, ApprovalExpired)
	w.refused(Deny{By: By{Who: "kim"}, ID: id}, ApprovalExpired)
	w.now = expires.Add(-1)
	w.skips(SkipWaiting)
	w.do(Approve{By: By{Who: "kim"}, ID: id})
	w.now = expires.Add(time.Hour)
	w.claim() // decided in time; what it is about still stands
}

// A request that nobody decided on halts the loop, by the next tick.
func TestApprovalExpires(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToLand}
	id := w.asking(ToLand)
	w.now = w.s.Approval.Expires
	w.shown(StatusWaiting)
	w.do(w.firing())
	w.halted(HaltExpired)
	w.refused(Approve{By: By{Who: "kim"}, ID: id}, ApprovalExpired)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltExpired})
	w.refused(Approve{By: By{Who: "kim"}, ID: id}, NothingWaiting)
	w.claim()
}

// Row 13, S5: from inside a run nobody ticks or decides.
func TestInsideRun_Row13(t *testing.T) {
	w := fresh(t)
	in := By{Who: "agent", Inside: "deps/1"}
	firing := w.firing()
	firing.By = in
	w.refused(firing, NestedTick)
	w.def.Approval.Before = []Stage{ToLand}
	id := w.asking(ToLand)
	w.refused(Approve{By: in, ID: id}, SelfApproval)
	w.refused(Deny{By: in, ID: id}, SelfApproval)
	w.refused(Resume{By: in}, SelfApproval)
	w.refused(Clear{By: in}, SelfApproval)
	w.refused(Pause{By: in}, InsideRun)
	w.refused(Retire{By: in}, InsideRun)
	w.refused(Remove{By: in}, InsideRun)
	_, err := Create{By: in}.Decide(State{}, Facts{}, w.now)
	want(t, "create", err.(*Refusal).Code, InsideRun)
}

// Row 19: the branch was moved by somebody else: halted, the result kept.
func TestBranchMoved_Row19(t *testing.T) {
	w := fresh(t)
	tick := w.landing()
	w.refused(FinishRun{Tick: tick, Head: "base"}, NotLanded)
	w.do(FinishRun{Tick: tick, Head: "elsewhere"})
	w.halted(HaltBranchMoved)
	want(t, "success", w.s.Last.Success, time.Time{})

	w = fresh(t)
	tick = w.claim()
	w.work(tick)
	w.do(FailRun{Tick: tick, Why: "branch_moved", Detail: "to x", Usage: Usage{Time: Span(time.Minute)}})
	w.halted(HaltBranchMoved)
	want(t, "failures", w.s.Count.Failures, 0)
	want(t, "charged", w.s.Count.Total.Time, Span(time.Minute))
}

// Row 35: a run goes by the definition as it stood at its claim.
func TestDefinitionEdited_Row35(t *testing.T) {
	w := fresh(t)
	w.def.Limits.MaxFailures = 1
	tick := w.claim()
	w.def.Limits.MaxFailures = 9
	w.f.Definition = "definition-2"
	w.work(tick)
	w.do(FailRun{Tick: tick, Why: "timeout"})
	w.halted(HaltFailures)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltFailures})
	w.refused(w.firing(), DefinitionMoved) // read before the edit
}

// Row 39: two loops never have one branch or folder.
func TestShared_Row39(t *testing.T) {
	w := fresh(t)
	w.f.Shared = "other"
	w.refused(w.firing(), WorktreeShared)
	_, err := Create{UID: "u2"}.Decide(State{}, w.f, w.now)
	want(t, "create", err.(*Refusal).Code, WorktreeShared)
}

// Row 41, Case43: work that had to be killed is a failure by its name, never a
// success; the loop stays and may go on.
func TestTimeout_Row41_Case43(t *testing.T) {
	w := fresh(t)
	tick := w.claim()
	w.work(tick)
	w.do(FailRun{Tick: tick, Why: "timeout"})
	want(t, "why", w.s.Last.Run.Why, "timeout")
	want(t, "success", w.s.Last.Success, time.Time{})
	w.shown(StatusBackoff)
	w.skips(SkipBackoff)
	w.sleep(time.Minute)
	w.claim()
}

// Row 46: a state of a newer format is not decided on by any verb.
func TestNewerFormat_Row46(t *testing.T) {
	w := fresh(t)
	w.s.Schema = Schema + 1
	tick := Tick{UID: "u1", Token: 1}
	for _, x := range []transition{
		w.firing(), Pause{}, Resume{}, Approve{}, Deny{}, Clear{}, Retire{}, Remove{}, MarkSent{}, Bury{},
		Reap{Tick: tick}, FinishLanding{Tick: tick}, FinishRun{Tick: tick}, FailRun{Tick: tick}, BeginWork{Tick: tick},
	} {
		w.refused(x, NewerFormat)
	}
}

// Row 47: a limit that is crossed inside a run ends it, halts the loop and says
// by how much.
func TestLimitInsideRun_Row47(t *testing.T) {
	w := fresh(t)
	w.def.Limits.MaxCostPerRun = 5_000_000
	tick := w.claim()
	w.work(tick)
	cost := Money(6_250_000)
	over, crossed := w.s.Claim.Rules.Crossed(w.s.Count, Usage{Cost: &cost}, w.now)
	if !crossed {
		t.Fatal("6.25 of 5.00 is no crossing")
	}
	w.do(HitLimit{Tick: tick, Crossing: over, Usage: Usage{Cost: &cost}})
	w.halted(HaltCost)
	want(t, "detail", w.s.Halt.Detail, "this run cost 6.25 of at most 5.00, 1.25 over")
	want(t, "charged", w.s.Count.Total.Cost, cost)
}

// Row 36: a definition that cannot be used is told once, until a tick claims again.
func TestInvalidDefinitionIsToldOnce_Row36(t *testing.T) {
	w := fresh(t)
	note := NoteInvalid{By: By{Who: "tick"}, Detail: "spec-kitty.toml:3: a key is misspelled"}
	w.do(note)
	if !w.told(OnInvalid) {
		t.Fatalf("it is not due: %+v", w.s.Due)
	}
	w.do(MarkSent{By: By{Who: "tick"}, Keys: []string{w.s.Due[0].Key}})
	if events, err := w.try(note); err != nil || len(events) > 0 {
		t.Errorf("it is told twice: %v, %v", events, err)
	}
	w.claim()
	if !w.s.Last.Invalid.IsZero() {
		t.Error("the next one would not be told")
	}
}
