package loop

import (
	"fmt"
	"time"
)

// end gives the claim back.
func (d *draft) end(e Ended) {
	e.Token = d.s.Claim.Token
	d.emit(e)
}

// fail ends a run as a failure: the loop backs off, or halts at the limit.
func (d *draft) fail(e Ended, at Halting) {
	rules, failures := d.s.Claim.Rules, d.s.Count.Failures+1
	e.Failure = true
	e.NotBefore = d.now().Add(Backoff(failures))
	if e.Why == WhyGate {
		e.NotBefore = time.Time{} // nothing was begun: the next firing may try
	}
	d.end(e)
	switch {
	case rules.MaxNoProgress > 0 && e.Progress == Stuck && d.s.Count.NoProgress >= rules.MaxNoProgress:
		d.halt(HaltNoProgress, e.Token, d.stuck())
	case rules.MaxFailures > 0 && failures >= rules.MaxFailures:
		d.halt(at, d.s.Last.Run.Token, fmt.Sprintf("%d failures in a row, the newest: %s", failures, e.text()))
	}
}

func (d *draft) stuck() string {
	text := fmt.Sprintf("%d runs in a row changed nothing", d.s.Count.NoProgress)
	if last := d.s.Last.Run; last != nil && last.Detail != "" {
		text += "; of the newest: " + last.Detail
	}
	return text
}

func (e Ended) text() string {
	text := string(e.Result)
	if e.Why != "" {
		text = e.Why
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// WhyGate is why a run failed whose gate gave no answer.
const WhyGate = "gate_error"

// charge is the usage of a run that ends with its work not charged yet; nil
// where no work was begun or BeginVerify charged it.
func charge(c *Claim, u Usage) *Usage {
	if c.Phase != InWork {
		return nil
	}
	return &u
}

// CloseGate ends a tick whose gate was closed: it skipped.
type CloseGate struct {
	Tick
	Detail string
}

// Kind implements the commit core's Transition.
func (t CloseGate) Kind() string { return "close_gate" }

// Decide gives the loop back.
func (t CloseGate) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if _, err := t.in(s, InGate); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	d.end(Ended{Result: EndClosed, Detail: t.Detail})
	d.emit(Skipped{Reason: SkipGate, Detail: t.Detail})
	return d.events, nil
}

// FailRun ends a run that failed, in whatever phase.
type FailRun struct {
	Tick
	Why    string // in one word: timeout, exit_status, worktree_gone, branch_moved, WhyGate, …
	Detail string
	Usage  Usage
}

// Kind implements the commit core's Transition.
func (t FailRun) Kind() string { return "fail" }

// Decide counts the failure. That the branch was moved before anything was to land is
// none of the run's: it halts the loop, as when it is noticed at the landing.
func (t FailRun) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.held(s)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	if t.Why == string(HaltBranchMoved) {
		d.end(Ended{Result: EndBranchMoved, Detail: t.Detail, Usage: charge(c, t.Usage)})
		d.halt(HaltBranchMoved, t.Token, t.Detail)
		return d.events, nil
	}
	d.fail(Ended{Result: EndFailed, Why: t.Why, Detail: t.Detail, Usage: charge(c, t.Usage)}, HaltFailures)
	return d.events, nil
}

// FailVerify ends a run whose result was refused by the verifier.
type FailVerify struct {
	Tick
	Verdict string // digest of what the verifier said
	Detail  string
}

// Kind implements the commit core's Transition.
func (t FailVerify) Kind() string { return "fail_verify" }

// Decide halts the loop or, where the definition has it so, counts a failure.
// The same refusal as last time is no progress.
func (t FailVerify) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.in(s, InVerify)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	e := Ended{Result: EndVerify, Detail: t.Detail, Verdict: t.Verdict}
	if t.Verdict != "" && t.Verdict == s.Last.Verify {
		e.Progress = Stuck
	}
	if c.Rules.Retry {
		d.fail(e, HaltFailures)
		return d.events, nil
	}
	e.Failure = true
	d.end(e)
	d.halt(HaltVerify, t.Token, t.Detail)
	return d.events, nil
}

// HitLimit ends a run that crossed a limit while it worked. The definition's
// context floor halts the loop only the second time in a row.
type HitLimit struct {
	Tick
	Crossing
	Usage Usage
}

// Kind implements the commit core's Transition.
func (t HitLimit) Kind() string { return "limit" }

// Decide ends the run and halts the loop.
func (t HitLimit) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.in(s, InWork, InVerify)
	if err != nil {
		return nil, err
	}
	switch t.Code {
	case HaltCost, HaltTokens, HaltTime, HaltContext, HaltRuns, HaltNoProgress:
	default:
		return nil, refuse(BadRequest, "%q is no limit of a run", t.Code)
	}
	d := newDraft(s, f, now, t)
	d.end(Ended{Result: EndLimit, Why: string(t.Code), Detail: t.Detail, Usage: charge(c, t.Usage)})
	if t.Code != HaltContext || d.s.Count.LowContext >= 2 {
		d.halt(t.Code, t.Token, t.Detail)
	}
	return d.events, nil
}

// CancelRun ends a run that an operator canceled, or that a signal interrupted.
// It is no failure.
type CancelRun struct {
	Tick
	Signal string // "" where an operator canceled it
	Usage  Usage
}

// Kind implements the commit core's Transition.
func (t CancelRun) Kind() string { return "cancel" }

// Decide gives the loop back. A landing is finished, not canceled: git may have
// moved the branch already.
func (t CancelRun) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.in(s, InGate, InWork, InVerify)
	if err != nil {
		return nil, err
	}
	if t.Signal == "" && s.Control.Cancel != t.Token {
		return nil, refuse(NotCanceled, "nobody canceled run %d", t.Token)
	}
	detail := "by signal " + t.Signal
	if t.Signal == "" {
		detail = fmt.Sprintf("by %s: %s", s.Control.By, orNone(s.Control.Reason))
	}
	d := newDraft(s, f, now, t)
	d.end(Ended{Result: EndCanceled, Detail: detail, Usage: charge(c, t.Usage)})
	return d.events, nil
}
