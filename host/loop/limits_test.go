package loop

import (
	"strings"
	"testing"
	"time"
)

// A limit that is reached halts the loop with its code, at the run's end or at
// the next claim; nobody sees a run begin beyond it.
func TestMaxRuns_Case41(t *testing.T) {
	w := fresh(t)
	w.def.Limits.MaxRuns = 2
	w.succeed()
	w.do(Pause{By: By{Who: "kim"}})
	w.do(Resume{By: By{Who: "kim"}}) // restarts no counter
	w.succeed()
	w.halted(HaltRuns)
	w.refused(Resume{By: By{Who: "kim"}}, IsHalted)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltRuns})
	w.do(w.firing())
	w.halted(HaltRuns)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltRuns, Reset: true})
	w.succeed()
	want(t, "runs", w.s.Count.Runs, 1)
	want(t, "total", w.s.Count.Total.Time, Span(3*time.Minute))
}

// Failures in a row back off for longer and longer, and halt at the limit; a
// success begins anew.
func TestFailures(t *testing.T) {
	w := fresh(t)
	fail := func() time.Duration {
		w.sleep(time.Hour)
		w.do(FailRun{Tick: w.claim(), Why: "exit_status", Detail: "exit status 1"})
		return w.s.Last.NotBefore.Sub(w.now)
	}
	want(t, "first", fail(), time.Minute)
	want(t, "second", fail(), 2*time.Minute)
	w.sleep(time.Hour)
	w.succeed()
	want(t, "first again", fail(), time.Minute)
	fail()
	fail()
	w.halted(HaltFailures)
	for n, wait := range map[int]time.Duration{0: time.Minute, 6: 32 * time.Minute, 7: time.Hour, 1 << 40: time.Hour} {
		want(t, "backoff", Backoff(n), wait)
	}
}

// A gate that gives no answer is a failure, so that typos are loud, and the next
// firing may try; a closed one is a skip.
func TestGate(t *testing.T) {
	w := fresh(t)
	w.do(CloseGate{Tick: w.claim(), Detail: "exit status 1"})
	want(t, "skip", w.s.Last.Skip.Reason, SkipGate)
	want(t, "failures", w.s.Count.Failures, 0)
	for range 3 {
		w.do(FailRun{Tick: w.claim(), Why: WhyGate, Detail: "exit status 127"})
	}
	w.halted(HaltFailures)
	want(t, "runs", w.s.Count.Runs, 0)
}

// The verifier's no halts the loop, or is tried again where that is set; the
// same no again is no progress.
func TestVerifyFails(t *testing.T) {
	w := fresh(t)
	w.do(FailVerify{Tick: w.verified(), Verdict: "v1", Detail: "one test fails"})
	w.halted(HaltVerify)

	w = fresh(t)
	w.def.Verify.Retry, w.def.Limits.MaxFailures, w.def.Limits.MaxNoProgress = true, 10, 2
	for i, verdict := range []string{"v1", "v2", "v2", "v2"} {
		w.sleep(time.Hour)
		w.do(FailVerify{Tick: w.verified(), Verdict: verdict})
		want(t, "no progress", w.s.Count.NoProgress, max(0, i-1))
	}
	w.halted(HaltNoProgress)
}

// Progress is a changed tree. Runs that change nothing halt the loop; they are
// no failures.
func TestNoProgress(t *testing.T) {
	w := fresh(t)
	idle := func() {
		tick := w.claim()
		w.work(tick)
		w.do(BeginVerify{Tick: tick, Result: "commit-without-change", Tree: "tree0"})
		w.do(FinishRun{Tick: tick})
	}
	idle()
	idle()
	want(t, "failures", w.s.Count.Failures, 0)
	w.succeed()
	want(t, "no progress", w.s.Count.NoProgress, 0)
	idle()
	idle()
	idle()
	w.halted(HaltNoProgress)
}

// A change that was not landed is no success.
func TestChangeMustLand(t *testing.T) {
	w := fresh(t)
	tick := w.verified()
	w.refused(FinishRun{Tick: tick}, WrongPhase)
	w.refused(BeginLanding{Tick: tick, Old: "base", New: "another"}, WrongPhase)
	w.refused(BeginLanding{Tick: tick, Old: "base", New: "base"}, WrongPhase)
	landing := w.beginLanding(tick)
	landing.Protected = []string{"a_test.go"}
	w.refused(landing, NeedsApproval)
	subject := Subject{Stage: ToLand, Definition: digest, Base: "base", Result: w.s.Claim.Result, Tree: w.s.Claim.Tree, Protected: landing.Protected}
	w.refused(Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToLand, Definition: "other", Protected: landing.Protected}}, BadRequest)
	w.refused(Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToLand, Definition: digest}}, BadRequest)
	w.refused(Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToLand, Definition: digest, Result: "other", Protected: landing.Protected}}, BadRequest)
	w.refused(Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToStart, Definition: digest}}, WrongPhase)
	w.do(Ask{Tick: tick, ID: "q", Subject: subject})
	w.shown(StatusWaiting)
}

// Work begins only with the approval that the definition wants, on the commit
// that was shown.
func TestStartNeedsApproval(t *testing.T) {
	w := fresh(t)
	w.def.Approval.Before = []Stage{ToStart}
	tick := w.claim()
	w.refused(w.beginWork(tick), NeedsApproval)
	w.do(CloseGate{Tick: tick})
	id := w.asking(ToStart)
	w.do(Approve{By: By{Who: "kim"}, ID: id})
	tick = w.claim()
	other := w.beginWork(tick)
	other.Base = "moved"
	w.refused(other, StaleApproval)
	w.work(tick)
}

// What a run used is charged once, and a day's limit counts the day's runs; with
// the next day it begins anew.
func TestSpendPerDay(t *testing.T) {
	w := fresh(t)
	w.def.Limits.MaxCostPerDay = 10_000_000
	cost, tokens := Money(6_000_000), int64(1000)
	run := func() (Tick, []Event) {
		tick := w.claim()
		w.work(tick)
		verify := w.beginVerify(tick)
		verify.Usage.Cost, verify.Usage.Tokens = &cost, &tokens
		return tick, w.do(verify)
	}
	finish := func(tick Tick) {
		w.do(w.beginLanding(tick))
		w.do(FinishRun{Tick: tick, Head: w.s.Claim.Result})
	}
	tick, _ := run()
	finish(tick)
	w.now = w.now.Add(24 * time.Hour)
	w.f.Here.Up += Span(24 * time.Hour)
	tick, _ = run()
	finish(tick)
	want(t, "today", w.s.Count.Day.Cost, cost)
	want(t, "total", w.s.Count.Total, Spend{Cost: 2 * cost, Tokens: 2 * tokens, Time: Span(2 * time.Minute)})
	run()
	w.halted(HaltCost)
	want(t, "today", w.s.Count.Day.Cost, 2*cost)
	w.do(Clear{By: By{Who: "kim"}, Code: HaltCost})
	w.do(w.firing())
	w.halted(HaltCost) // the day is not over
}

// What a run does not tell is unknown, and with a limit on it the run is refused.
func TestUnknownUsage(t *testing.T) {
	w := fresh(t)
	w.succeed()
	want(t, "unknown", w.s.Count.Total.Unknown, 1)
	for _, limits := range []Limits{{MaxCostPerRun: 1}, {MaxCostPerDay: 1}, {MaxTokensPerRun: 1}, {MaxTokensPerDay: 1}} {
		w := fresh(t)
		limits.MaxFailures = 3
		w.def.Limits = limits
		w.endsInstead(EndFailed, string(UsageUnknown))
		want(t, "failures", w.s.Count.Failures, 1)
	}
}

// endsInstead ends the work and wants the run to end for a reason.
func (w *world) endsInstead(result Result, why string) {
	w.t.Helper()
	tick := w.claim()
	w.work(tick)
	w.do(w.beginVerify(tick))
	if r := w.s.Last.Run; w.s.Claim != nil || r == nil || r.Result != result || r.Why != why {
		w.t.Fatalf("claim %+v, ended as %+v", w.s.Claim, r)
	}
}

// Tokens and time have limits as money does.
func TestOtherLimits(t *testing.T) {
	tokens := int64(11)
	for _, c := range []struct {
		rules Rules
		usage Usage
		code  Halting
	}{
		{Rules{MaxTokensPerRun: 10}, Usage{Tokens: &tokens}, HaltTokens},
		{Rules{MaxTokensPerDay: 10}, Usage{Tokens: &tokens}, HaltTokens},
		{Rules{MaxTimePerDay: Span(time.Hour)}, Usage{Time: Span(time.Hour + 1)}, HaltTime},
	} {
		over, crossed := c.rules.Crossed(Count{}, c.usage, epoch)
		want(t, string(c.code), crossed, true)
		want(t, string(c.code), over.Code, c.code)
	}
	if over, crossed := (Rules{MaxTokensPerRun: 11, MaxTimePerDay: Span(time.Hour)}).Crossed(Count{}, Usage{Tokens: &tokens, Time: Span(time.Hour)}, epoch); crossed {
		t.Fatalf("at the limit is not over it: %+v", over)
	}
	w := fresh(t)
	w.def.Limits.MaxTimePerDay = time.Minute
	w.succeed()
	w.do(w.firing())
	w.halted(HaltTime)
}

// Too little context ends a run, and halts the loop only the second time in a
// row.
func TestContextFloor(t *testing.T) {
	w := fresh(t)
	w.def.Limits.ContextFloor = 15
	left := 14
	low := func() {
		tick := w.claim()
		w.work(tick)
		want(t, "low", w.s.Claim.Rules.LowContext(Usage{Context: &left}), true)
		w.refused(HitLimit{Tick: tick, Crossing: Crossing{Code: HaltDenied}}, BadRequest)
		w.do(HitLimit{Tick: tick, Crossing: Crossing{Code: HaltContext}, Usage: Usage{Context: &left}})
	}
	low()
	w.shown(StatusReady)
	w.succeed()
	low()
	low()
	w.halted(HaltContext)
	left = 15
	want(t, "low", Rules{ContextFloor: 15}.LowContext(Usage{Context: &left}), false)
	want(t, "unknown", Rules{ContextFloor: 15}.LowContext(Usage{}), false)
}

// A work that never tells what it uses is stopped by the limit on failures, and the
// loop rests between: no limit on what is unknown would ever hold.
func TestUnknownUsageIsAFailure(t *testing.T) {
	w := fresh(t)
	w.def.Limits = Limits{MaxCostPerDay: 1, MaxFailures: 2}
	w.endsInstead(EndFailed, string(UsageUnknown))
	w.shown(StatusBackoff)
	w.sleep(maxBackoff)
	tick := w.claim()
	w.work(tick)
	verify := w.beginVerify(tick)
	verify.Untold = "usage.json is a folder"
	w.do(verify)
	w.halted(HaltFailures)
	if detail := w.s.Last.Run.Detail; !strings.HasSuffix(detail, ": usage.json is a folder") {
		t.Errorf("it does not say why: %s", detail)
	}
}

// P4: the clear that is shown for a limit that was reached lets the loop go on.
func TestShownClearGoesOn(t *testing.T) {
	for code, limits := range map[Halting]Limits{
		HaltRuns: {MaxRuns: 1}, HaltCost: {MaxCostPerDay: 1}, HaltTokens: {MaxTokensPerDay: 1}, HaltTime: {MaxTimePerDay: time.Minute},
	} {
		w := fresh(t)
		w.def.Limits = limits
		cost, tokens := Money(1), int64(1)
		tick := w.claim()
		w.work(tick)
		verify := w.beginVerify(tick)
		verify.Usage.Cost, verify.Usage.Tokens = &cost, &tokens
		w.do(verify)
		w.do(w.beginLanding(tick))
		w.do(FinishRun{Tick: tick, Head: w.s.Claim.Result})
		if w.s.Halt == nil {
			w.do(w.firing())
		}
		w.halted(code)
		next := w.shown(StatusHalted).Next
		w.do(Clear{By: By{Who: "kim"}, Code: code, Reset: strings.HasSuffix(next, "--reset")})
		w.do(w.firing())
		if w.s.Claim == nil {
			t.Errorf("%s: after `%s` the loop is %+v", code, next, w.s.Halt)
		}
	}
}
