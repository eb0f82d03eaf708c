package cursor

import (
	"strings"
	"time"
)

// The options of audits and of packages that depend on a canceled one.
const (
	approve = "approve"
	reject  = "reject"
	goOn    = "go_on"
	cancel  = "cancel"
)

// OwnerInput is the input that names who may answer audits.
const OwnerInput = "mission_owner_id"

// InputID is the decision id of an input.
func InputID(key string) string { return "input:" + key }

// PluginID is the decision id of an executor's question.
func PluginID(key string) string { return "plugin:" + key }

func auditID(step string) string   { return "audit:" + step }
func packageID(id string) string   { return "package:" + id }
func isAudit(decision string) bool { return strings.HasPrefix(decision, "audit:") }

// Give answers an open question. Its condition is that this asking is open, not
// a revision: answers that overlap all survive.
type Give struct {
	Who      string
	Human    string // name after human:, "" where no person answers
	Agent    string // "" where no agent answers
	Decision string // "": the only open one
	Token    string // of the asking; required for audits
	Value    string
	Tokens   Tokens // for the questions that it leads to: the answer of an audit enters a step
}

// Kind implements the commit core's Transition.
func (t Give) Kind() string { return "answer" }

// Actor implements the commit core's Transition.
func (t Give) Actor() string { return t.Who }

// Decide records the answer. No events: the same answer was given before.
func (t Give) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	q, err := t.find(s)
	if err != nil || q == nil {
		return nil, err
	}
	if err := t.check(s, f, *q); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t, t.Tokens)
	d.emit(Answered{ID: q.ID, Token: q.Token, Key: q.Key, Value: t.Value, By: t.Who})
	switch {
	case isAudit(q.ID):
		err = t.audit(d)
	case strings.HasPrefix(q.ID, "package:") && t.Value == cancel:
		d.cancelDependants(strings.TrimPrefix(q.ID, "package:"), t.Who)
	}
	return d.done(err)
}

// find is the open asking that is meant; nil without error where the same
// answer was given already.
func (t Give) find(s State) (*Asking, error) {
	open := s.Cursor.Questions
	if t.Decision == "" {
		switch len(open) {
		case 1:
			return &open[0], nil
		case 0:
			return nil, refuse(DecisionNotFound, "no question is open")
		}
		refusal := refuse(DecisionAmbiguous, "%d questions are open: name one with --decision-id", len(open))
		refusal.Options = ids(open)
		return nil, refusal
	}
	if q, ok := s.Asking(t.Decision); ok {
		return &q, nil
	}
	before, ok := s.Cursor.Answers[t.Decision]
	switch {
	case !ok:
		refusal := refuse(DecisionNotFound, "no question %q is open", t.Decision)
		refusal.Options = ids(open)
		return nil, refusal
	case t.Token != "" && t.Token != before.Token:
		return nil, refuse(StaleDecision, "decision token %s is not the one of the asking that was answered", t.Token)
	case before.Value != t.Value:
		return nil, refuse(DecisionConflict, "%s was answered with %q by %s", t.Decision, before.Value, before.By)
	}
	return nil, nil
}

func ids(open []Asking) []string {
	var all []string
	for _, q := range open {
		all = append(all, q.ID)
	}
	return all
}

func (t Give) check(s State, f Facts, q Asking) error {
	if t.Token != "" && t.Token != q.Token {
		return refuse(StaleDecision, "decision token %s is not the one of this asking of %s: show it again", t.Token, q.ID)
	}
	if isAudit(q.ID) {
		if err := t.mayAudit(s, q); err != nil {
			return err
		}
	}
	if strings.HasPrefix(q.ID, "package:") && f.Fault != nil {
		return f.Fault
	}
	return allowed(q.Options, t.Value)
}

// mayAudit wants a person, or the mission's owner where the run names one, and
// the token of the asking that was shown.
func (t Give) mayAudit(s State, q Asking) error {
	owner := s.Cursor.Inputs[OwnerInput]
	switch {
	case owner != "" && t.Agent != owner && t.Human != owner:
		return refuse(AuditNeedsHuman, "%s is answered by %s, whom the input %s names", q.ID, owner, OwnerInput)
	case owner == "" && t.Human == "":
		return refuse(AuditNeedsHuman, "%s is answered by a person: use --as human:NAME", q.ID)
	case t.Token == "":
		return refuse(StaleDecision, "an audit is answered with the token of its asking: add --decision-token from the answer that showed it")
	}
	return nil
}

func (t Give) audit(d *draft) error {
	if t.Value == approve {
		return d.complete(ByApproval, "")
	}
	step, err := d.f.Def.Step(d.s.Cursor.Pos)
	if err != nil {
		return err
	}
	if step.Audit == nil {
		return refuse(DecisionNotFound, "step %s is no audit", step.ID)
	}
	reason := "rejected by " + t.Who
	if step.Audit.OnReject != "" {
		done, err := d.reopen(step, reason)
		if done || err != nil {
			return err
		}
	}
	d.emit(Stopped{Step: step.ID, Stop: Rejected, Reason: reason})
	return nil
}
