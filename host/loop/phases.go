package loop

import (
	"slices"
	"strings"
	"time"
)

// BeginWork lets a run's work go. Its process was started and waits: it goes on
// only when this is durable, so no work runs that the state does not know.
type BeginWork struct {
	Tick
	Group    ProcessGroup
	Base     string // commit that the work begins at
	BaseTree string
}

// Kind implements the commit core's Transition.
func (t BeginWork) Kind() string { return "work" }

// Decide counts the run.
func (t BeginWork) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.going(s, InGate)
	if err != nil {
		return nil, err
	}
	grant := c.Grant
	switch {
	case grant != nil && grant.Subject.Stage == ToLand:
		return nil, refuse(WrongPhase, "run %d was approved to land what run %d left: it does no work", t.Token, grant.Token)
	case !slices.Contains(c.Rules.Before, ToStart):
	case grant == nil:
		return nil, refuse(NeedsApproval, "the definition wants an approval before each start")
	case grant.Subject.Base != t.Base:
		return nil, refuse(StaleApproval, "the start was approved on commit %s, and the branch is at %s", grant.Subject.Base, t.Base)
	}
	return []Event{Working{Token: t.Token, Group: t.Group, Base: t.Base, BaseTree: t.BaseTree}}, nil
}

// BeginVerify says what the work left and that it is being verified. What the
// work used is charged here; where that crosses a limit, or is unknown and a
// limit needs it, the run ends instead, which the events tell.
type BeginVerify struct {
	Tick
	Group  *ProcessGroup // of the verifier, where one runs
	Result string        // commit
	Tree   string
	Usage  Usage
	Untold string // why what the work told could not be read; "" where it could
}

// Kind implements the commit core's Transition.
func (t BeginVerify) Kind() string { return "verify" }

// Decide charges and goes on, or ends the run.
func (t BeginVerify) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.going(s, InWork)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	if d.overspent(c, t.Usage, t.Untold) {
		return d.events, nil
	}
	d.emit(Verifying{Token: t.Token, Group: t.Group, Result: t.Result, Tree: t.Tree, Usage: t.Usage})
	return d.events, nil
}

// overspent ends a run whose usage is over a limit, or unknown under one, which is a
// failure like others: a work that never tells would else go on without any limit.
func (d *draft) overspent(c *Claim, u Usage, untold string) bool {
	if missing := c.Rules.NeedsUsage(u); missing != "" {
		e := Ended{Result: EndFailed, Why: string(UsageUnknown), Detail: "the work did not tell " + missing + ", for which a limit is set", Usage: &u}
		if untold != "" {
			e.Detail += ": " + untold
		}
		d.fail(e, HaltFailures)
		return true
	}
	over, crossed := c.Rules.Crossed(d.s.Count, u, d.now())
	if crossed {
		d.end(Ended{Result: EndLimit, Why: string(over.Code), Detail: over.Detail, Usage: &u})
		d.halt(over.Code, c.Token, over.Detail)
	}
	return crossed
}

// BeginLanding is the intent to move the loop's branch: recorded before git is
// asked, so that whoever comes after a crash knows what to finish.
type BeginLanding struct {
	Tick
	Old       string // commit that the branch must be at
	New       string
	Tree      string   // of New
	Branch    string   // that moves
	Protected []string // protected files that were changed
	Goal      bool     // the goal is met once it has landed
}

// Kind implements the commit core's Transition.
func (t BeginLanding) Kind() string { return "land" }

// Decide wants a verified result, and an approval where one is needed.
func (t BeginLanding) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.going(s, InGate, InVerify)
	if err != nil {
		return nil, err
	}
	grant := c.Grant
	granted := grant != nil && grant.Subject.Stage == ToLand
	switch {
	case granted && (c.Phase != InGate || grant.Subject.Result != t.New || grant.Subject.Base != t.Old):
		return nil, refuse(StaleApproval, "what was approved is commit %s on %s, not %s on %s", grant.Subject.Result, grant.Subject.Base, t.New, t.Old)
	case t.New == t.Old:
		return nil, refuse(WrongPhase, "run %d left no commit to land: finish it", t.Token)
	case granted:
	case c.Phase != InVerify || t.New != c.Result || t.Old != c.Base:
		return nil, refuse(WrongPhase, "only what run %d left and verified may land", t.Token)
	case slices.Contains(c.Rules.Before, ToLand):
		return nil, refuse(NeedsApproval, "the definition wants an approval before landing")
	case len(t.Protected) > 0:
		return nil, refuse(NeedsApproval, "the work changed protected files, which wants an approval: %s", strings.Join(t.Protected, ", "))
	}
	goal := t.Goal
	if granted {
		goal = grant.Subject.Goal
	}
	return []Event{Landing{Token: t.Token, Old: t.Old, New: t.New, Tree: t.Tree, Branch: t.Branch, Goal: goal}}, nil
}
