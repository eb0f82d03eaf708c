package loop

import "time"

// FinishRun ends a run that went well: its result has landed, or it changed
// nothing.
type FinishRun struct {
	Tick
	Head   string // of the loop's branch, after the landing
	Goal   bool   // the goal is met, where nothing had to land
	Detail string // what people should know of it
}

// Kind implements the commit core's Transition.
func (t FinishRun) Kind() string { return "finish" }

// Decide keeps the books of a good run.
func (t FinishRun) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.in(s, InVerify, InLanding)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	if c.Phase == InLanding {
		return d.landed(t.Head, t.Detail, false)
	}
	if c.Tree != c.BaseTree {
		return nil, refuse(WrongPhase, "run %d left a change that has not landed: land it first", t.Token)
	}
	d.succeed(Ended{Progress: Stuck, Detail: t.Detail}, t.Goal)
	return d.events, nil
}

// landed finishes a landing by where the branch is now.
func (d *draft) landed(head, detail string, recovered bool) ([]Event, error) {
	switch c := d.s.Claim; head {
	case c.Result:
		d.succeed(Ended{Progress: Moved, Recovered: recovered, Detail: detail}, c.Goal)
	case c.Base:
		return nil, refuse(NotLanded, "the branch is still at %s: move it to %s first", c.Base, c.Result)
	default:
		d.end(Ended{Result: EndBranchMoved, Recovered: recovered, Detail: "the branch is at " + orNowhere(head) + ", neither at " + c.Base + " nor at " + c.Result})
		d.halt(HaltBranchMoved, c.Token, "somebody moved the branch to "+orNowhere(head)+"; what the run left is kept as "+c.Result)
	}
	return d.events, nil
}

func orNowhere(head string) string {
	if head == "" {
		return "no commit"
	}
	return head
}

// succeed ends the run, and the loop where its goal is met or its limits are.
func (d *draft) succeed(e Ended, goal bool) {
	e.Result = EndSuccess
	rules, token := d.s.Claim.Rules, d.s.Claim.Token
	d.end(e)
	if goal {
		d.emit(GoalMet{Token: token})
		d.notice(token, OnDone, "the goal is met")
		return
	}
	if rules.MaxNoProgress > 0 && d.s.Count.NoProgress >= rules.MaxNoProgress {
		d.halt(HaltNoProgress, token, d.stuck())
	} else if rules.MaxRuns > 0 && d.s.Count.Runs >= rules.MaxRuns {
		over, _ := rules.exhausted(d.s.Count, d.now())
		d.halt(over.Code, token, over.Detail)
	}
}

// spent halts a loop whose limits let no further run begin.
func (t ClaimLoop) spent(d *draft) {
	if over, none := t.Definition.Rules().exhausted(d.s.Count, d.now()); none {
		d.halt(over.Code, d.s.Token, over.Detail)
	}
}

// FinishLanding finishes the landing of a claim that died in it: the intent is
// on record, so the run counts, once, whoever moved the branch.
type FinishLanding struct {
	Tick
	Head string // of the loop's branch, after the swap was tried again
}

// Kind implements the commit core's Transition.
func (t FinishLanding) Kind() string { return "finish_landing" }

// Decide keeps the books as FinishRun would have.
func (t FinishLanding) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if _, err := t.in(s, InLanding); err != nil {
		return nil, err
	}
	if err := leaseLive(s, f, now); err != nil {
		return nil, err
	}
	return newDraft(s, f, now, t).landed(t.Head, "", true)
}

func leaseLive(s State, f Facts, now time.Time) error {
	standing := s.Standing(f, now)
	if standing.Over {
		return nil
	}
	return refuse(LeaseLive, "run %d on %s lives: %s", s.Claim.Token, s.Claim.Runner.Host, standing.Why)
}
