package cursor

import (
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
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

func auditID(step string) string { return "audit:" + step }
func packageID(id string) string { return "package:" + id }

// IsAudit tells whether a decision id is an audit's.
func IsAudit(decision string) bool { return strings.HasPrefix(decision, "audit:") }

// Give answers an open question. Its condition is that this asking is open, not
// a revision: answers that overlap all survive.
type Give struct {
	Who      string
	Human    string // name after human:, "" where no person answers
	Agent    string // "" where no agent answers
	Decision string // "": the only open one
	Token    string // of the asking; required for audits
	Value    string
	Reason   string // what is said with it, for the record; of a rejection, for the next prompt
	Replace  bool   // the question was answered, and this takes that answer's place
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
	if t.Replace {
		return t.replace(s, f, now)
	}
	q, err := t.find(s)
	if err != nil || q == nil {
		return nil, err
	}
	if err := t.check(s, f, *q); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t, t.Tokens)
	d.emit(Answered{ID: q.ID, Token: q.Token, Key: q.Key, Value: t.Value, By: t.Who, Reason: t.Reason})
	if IsAudit(q.ID) {
		return d.done(t.audit(d))
	}
	t.cancels(d, q.ID)
	return d.done(nil)
}

// cancels carries out the choice to cancel what depends on a canceled package.
func (t Give) cancels(d *draft, decision string) {
	id, ok := strings.CutPrefix(decision, "package:")
	if ok && t.Value == cancel && d.s.lane(d.f, id) == mission.Canceled { // else it was taken up again meanwhile
		d.cancelDependants(id, t.Who)
	}
}

// find is the open asking that is meant; nil without error where the same
// answer was given already.
func (t Give) find(s State) (*Asking, error) {
	q, err := meant(s, t.Decision)
	if q != nil || err != nil {
		return q, err
	}
	switch before := s.Cursor.Answers[t.Decision]; {
	case t.Token != "" && t.Token != before.Token:
		return nil, refuse(StaleDecision, "decision token %s is not the one of the asking that was answered", t.Token)
	case before.Value != t.Value:
		return nil, refuse(DecisionConflict, "%s was answered with %q by %s", t.Decision, before.Value, before.By)
	}
	return nil, nil
}

// meant is the open asking with an id, or the only one; nil without error where
// it was answered.
func meant(s State, decision string) (*Asking, error) {
	open := s.Cursor.Questions
	if decision == "" {
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
	if q, ok := s.Asking(decision); ok {
		return &q, nil
	}
	if _, answered := s.Cursor.Answers[decision]; answered {
		return nil, nil
	}
	refusal := refuse(DecisionNotFound, "no question %q is open", decision)
	refusal.Options = ids(open)
	return nil, refusal
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
		return staleAsking(q, t.Token)
	}
	if IsAudit(q.ID) {
		if err := t.mayAudit(s, q); err != nil {
			return err
		}
	}
	if q.ID == InputID(OwnerInput) && t.Agent != "" {
		return refuse(AuditNeedsHuman, "%s says who answers audits, so no agent answers it: use --as human:NAME", q.ID)
	}
	if strings.HasPrefix(q.ID, "package:") && f.Fault != nil {
		return f.Fault
	}
	return allowed(q.Options, t.Value)
}

// auditor is who answers audits, in words.
func (s State) auditor() string {
	if owner := s.Cursor.Inputs[OwnerInput]; owner != "" {
		return owner + ", whom the input " + OwnerInput + " names,"
	}
	return "a person"
}

// mayAudit wants a person, or the mission's owner where the run names one, and
// the token of the asking that was shown.
func (t Give) mayAudit(s State, q Asking) error {
	owner := s.Cursor.Inputs[OwnerInput]
	switch {
	case owner != "" && t.Agent != owner && t.Human != owner:
		return refuse(AuditNeedsHuman, "%s is answered by %s, whom the input %s names; if that is the wrong name, a person replaces it: `spec-kitty help answer`", q.ID, owner, OwnerInput)
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
	if t.Reason != "" {
		reason += ": " + t.Reason
	}
	if step.Audit.OnReject != "" {
		done, err := d.reopen(step, reason)
		if done || err != nil {
			return err
		}
	}
	d.emit(Stopped{Step: step.ID, Stop: Rejected, Reason: reason})
	return nil
}
