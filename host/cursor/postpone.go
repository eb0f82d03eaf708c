package cursor

import (
	"strings"
	"time"
)

// DecisionNeeded is the refusal to withdraw a question that its step cannot do
// without: it would be stuck for good.
const DecisionNeeded Code = "decision_needed"

// Postpone puts an open question off, with a reason. The question stays open and
// keeps its step closed; whoever looks is told who put it off and why.
type Postpone struct {
	Who      string
	Decision string // "": the only open one
	Token    string // of the asking; "": the present one
	Reason   string
}

// Kind implements the commit core's Transition.
func (t Postpone) Kind() string { return "postpone" }

// Actor implements the commit core's Transition.
func (t Postpone) Actor() string { return t.Who }

// Decide notes it. No events: the same person put it off for the same reason.
func (t Postpone) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	q, err := asked(s, t.Decision, t.Token, t.Reason)
	if err != nil {
		return nil, err
	}
	if p := q.Postponed; p != nil && p.By == t.Who && p.Reason == t.Reason {
		return nil, nil
	}
	d := newDraft(s, f, now, t, Tokens{})
	d.emit(Postponed{ID: q.ID, Token: q.Token, By: t.Who, Reason: t.Reason})
	return d.done(nil)
}

// Withdraw ends the asking of a question that nobody wants answered any more:
// an executor's, or one about packages. What still needs it asks again. An input
// and an audit cannot be withdrawn: nothing would ask again, and nothing would
// let their step go on.
type Withdraw struct {
	Who      string
	Decision string // "": the only open one
	Token    string // of the asking; "": the present one
	Reason   string
}

// Kind implements the commit core's Transition.
func (t Withdraw) Kind() string { return "withdraw" }

// Actor implements the commit core's Transition.
func (t Withdraw) Actor() string { return t.Who }

// Decide ends the asking.
func (t Withdraw) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	q, err := asked(s, t.Decision, t.Token, t.Reason)
	if err != nil {
		return nil, err
	}
	if IsAudit(q.ID) {
		return nil, refuse(DecisionNeeded, "step %s cannot go on without %s: it is answered or postponed", s.Cursor.Step, q.ID)
	}
	if strings.HasPrefix(q.ID, InputID("")) {
		return nil, refuse(DecisionNeeded, "step %s cannot go on without %s: it is answered, postponed, or its step skipped", s.Cursor.Step, q.ID)
	}
	d := newDraft(s, f, now, t, Tokens{})
	d.emit(Withdrawn{ID: q.ID, Token: q.Token, By: t.Who, Reason: t.Reason})
	return d.done(nil)
}

// asked is the open asking that a verb means.
func asked(s State, decision, token, reason string) (*Asking, error) {
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	if reason == "" {
		return nil, refuse(Usage, "putting a question off, or withdrawing it, wants a reason")
	}
	q, err := meant(s, decision)
	if err != nil {
		return nil, err
	}
	if q == nil {
		before := s.Cursor.Answers[decision]
		return nil, refuse(DecisionConflict, "%s was answered with %q by %s", decision, before.Value, before.By)
	}
	if token != "" && token != q.Token {
		return nil, staleAsking(*q, token)
	}
	return q, nil
}

func staleAsking(q Asking, token string) *Refusal {
	return refuse(StaleDecision, "decision token %s is not the one of this asking of %s: show it again", token, q.ID)
}
