package loop

import (
	"slices"
	"time"
)

// Ask asks a person before a stage, and gives the claim up: nothing waits.
type Ask struct {
	Tick
	ID      string // new
	Subject Subject
}

// Kind implements the commit core's Transition.
func (t Ask) Kind() string { return "ask" }

// Decide opens the request.
func (t Ask) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	phase := InGate
	if t.Subject.Stage == ToLand {
		phase = InVerify
	}
	c, err := t.going(s, phase)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Subject.Definition != c.Definition:
		return nil, refuse(BadRequest, "the request is about another definition than the run's")
	case !slices.Contains(c.Rules.Before, t.Subject.Stage) && len(t.Subject.Protected) == 0:
		return nil, refuse(BadRequest, "nothing wants an approval to %s", t.Subject.Stage)
	case phase == InVerify && (t.Subject.Result != c.Result || t.Subject.Tree != c.Tree || t.Subject.Base != c.Base):
		return nil, refuse(BadRequest, "the request is about another commit than the run's")
	}
	d := newDraft(s, f, now, t)
	d.end(Ended{Result: EndAsked, Detail: "to " + string(t.Subject.Stage)})
	d.emit(Asked{Approval{ID: t.ID, Token: t.Token, Subject: t.Subject, Asked: now, Expires: now.Add(time.Duration(c.Rules.Expires))}})
	d.notice(t.Token, OnWaiting, "for a decision to "+string(t.Subject.Stage)+", request "+t.ID)
	return d.events, nil
}

// Approve grants a request: the next claim uses the grant up.
type Approve struct {
	By
	ID   string // of the request that the person saw
	Note string
}

// Kind implements the commit core's Transition.
func (t Approve) Kind() string { return "approve" }

// Decide grants what was shown, if it still is so. A claim compares once more.
func (t Approve) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	a, err := open(s, t.By, t.ID, now)
	if err != nil {
		return nil, err
	}
	stale, why := a.stale(f)
	if f.Subject == nil && !stale {
		stale, why = true, "what was asked about cannot be read any more"
	}
	if stale {
		return nil, refuse(StaleApproval, "request %s: %s; the next tick asks anew", a.ID, why)
	}
	return []Event{Decided{ID: a.ID, Decision: Approved, By: t.Who, Note: t.Note}}, nil
}

// Deny refuses a request: the loop is halted.
type Deny struct {
	By
	ID   string // of the request that the person saw
	Note string
}

// Kind implements the commit core's Transition.
func (t Deny) Kind() string { return "deny" }

// Decide denies, whatever has changed since.
func (t Deny) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	a, err := open(s, t.By, t.ID, now)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	d.emit(Decided{ID: a.ID, Decision: Denied, By: t.Who, Note: t.Note})
	d.halt(HaltDenied, a.Token, "by "+t.Who+": "+orNone(t.Note))
	return d.events, nil
}

// open is the request that a person may decide on now. It never waits for a
// run: where none is open, that is the answer.
func open(s State, by By, id string, now time.Time) (*Approval, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := by.outside(SelfApproval, "deciding on a request"); err != nil {
		return nil, err
	}
	a := s.Approval
	switch {
	case a == nil:
		return nil, refuse(NothingWaiting, "no request is open: none was made, or its grant was used")
	case a.ID != id:
		return nil, refuse(StaleApproval, "request %s is not the open one, which is %s: look at that one first", id, a.ID)
	case a.Decision != "":
		refusal := refuse(AlreadyDecided, "request %s was %s by %s at %s", a.ID, a.Decision, a.By, stamp(a.At))
		refusal.By, refusal.At = a.By, a.At
		return nil, refusal
	case !now.Before(a.Expires):
		return nil, refuse(ApprovalExpired, "request %s could be decided until %s", a.ID, stamp(a.Expires))
	}
	return a, nil
}
