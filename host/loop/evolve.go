package loop

import (
	"slices"
	"time"
)

// Meta is what a record says of all its events.
type Meta struct {
	Revision uint64
	At       time.Time
	Actor    string
	Kind     string // of the transition
}

// Evolve is the state after an event. It is total: it never fails, and events
// that do not fit (no Decide makes them) leave what they do not fit unchanged.
func Evolve(s State, m Meta, event Event) State {
	s.Revision = m.Revision
	switch e := event.(type) {
	case Created:
		return State{UID: e.UID, Name: e.Name, Schema: e.Schema, Revision: m.Revision, Created: m.At, Control: Control{Desired: Active}}
	case Claimed:
		return s.claimed(m, e)
	case Skipped:
		s.Count.Skips++
		s.Last.Skip = &Skip{Reason: e.Reason, Detail: e.Detail, At: m.At}
		s = s.slot(e.Slot, e.Missed)
	case Working, Regrouped, Verifying, Landing:
		return s.moved(m, event)
	case Ended:
		return s.ended(m, e)
	case Buried:
		s.Orphans = slices.DeleteFunc(slices.Clone(s.Orphans), func(o Orphan) bool { return o.Token == e.Token })
	case Noticed:
		s.Due = append(slices.Clone(s.Due), Notice{Key: e.Key, On: e.On, Detail: e.Detail, At: m.At})
		s.Due = s.Due[max(0, len(s.Due)-maxDue):]
		switch e.On {
		case OnOverdue:
			s.Last.Overdue = m.At
		case OnInvalid:
			s.Last.Invalid = m.At
		}
	case Sent:
		s.Due = slices.DeleteFunc(slices.Clone(s.Due), func(n Notice) bool { return slices.Contains(e.Keys, n.Key) })
	default:
		return s.decided(m, event)
	}
	return s
}

// maxDue bounds the notices that wait for a notify command that always fails.
const maxDue = 20

// decided takes the events that are about whether the loop may go on.
func (s State) decided(m Meta, event Event) State {
	switch e := event.(type) {
	case Asked:
		approval := e.Approval
		s.Approval = &approval
	case Decided:
		if s.Approval != nil && s.Approval.ID == e.ID {
			approval := *s.Approval
			approval.Decision, approval.By, approval.Note, approval.At = e.Decision, e.By, e.Note, m.At
			s.Approval = &approval
		}
	case Voided:
		if s.Approval != nil && s.Approval.ID == e.ID {
			s.Approval = nil
		}
	case HaltSet:
		s.Halt = &Halt{Code: e.Code, Detail: e.Detail, Token: e.Token, At: m.At}
		s.Token = max(s.Token, e.Token) // of runs that only an older copy does not know
	case GoalMet:
		s.Done = &Met{Token: e.Token, At: m.At}
	case PauseSet:
		s.Control = Control{Desired: Paused, Cancel: max(s.Control.Cancel, e.Cancel), By: m.Actor, Reason: e.Reason, At: m.At, Until: e.Until}
	case Resumed:
		s.Control = Control{Desired: Active, Cancel: s.Control.Cancel, By: m.Actor, Reason: e.Reason, At: m.At}
	case RetireSet:
		s.Control = Control{Desired: Stopped, Cancel: max(s.Control.Cancel, e.Cancel), By: m.Actor, Reason: e.Reason, At: m.At}
	case Cleared:
		return s.cleared(e)
	case Removed:
		s.Removed = true
	}
	return s
}

func (s State) cleared(e Cleared) State {
	s.Halt, s.Done, s.Last.NotBefore = nil, nil, time.Time{}
	if a := s.Approval; a != nil && a.Decision != Approved {
		s.Approval = nil // denied or run out: it kept the halt's story
	}
	if e.Reset {
		s.Count = Count{Total: s.Count.Total, Missed: s.Count.Missed}
		s.Last.Verify = ""
	}
	return s
}

func (s State) claimed(m Meta, e Claimed) State {
	s.Token = e.Token
	s.Claim = &Claim{
		Token: e.Token, Phase: InGate, Runner: e.Runner, Acquired: m.At, Since: m.At,
		Definition: e.Definition, Rules: e.Rules, Slot: e.Slot, Grant: e.Grant,
	}
	if e.Grant != nil {
		s.Approval = nil
	}
	s.Last.Attempt, s.Last.NotBefore, s.Last.Invalid = m.At, time.Time{}, time.Time{}
	return s.slot(e.Slot, e.Missed)
}

// slot notes the slot of a firing, so that the same one is not served twice.
func (s State) slot(at time.Time, missed int) State {
	if !at.IsZero() {
		s.Last.Slot = at
		s.Count.Missed += missed
	}
	return s
}

// moved takes a claim to its next phase.
func (s State) moved(m Meta, event Event) State {
	if s.Claim == nil {
		return s
	}
	c, since := *s.Claim, s.Claim.Since
	c.Since = m.At
	s.Claim = &c
	if c.Phase != InGate {
		s.Count.Skips = 0
	}
	switch e := event.(type) {
	case Working:
		s.Count.Skips = 0
		c.Phase, c.Base, c.BaseTree = InWork, e.Base, e.BaseTree
		c.Group = &e.Group
		s.Count.Runs++
	case Regrouped:
		c.Group, c.Since = &e.Group, since
	case Verifying:
		c.Phase, c.Group, c.Result, c.Tree = InVerify, e.Group, e.Result, e.Tree
		s.Count = s.Count.charged(m.At, e.Usage)
	case Landing:
		c.Phase, c.Group, c.Base, c.Result, c.Tree, c.Branch, c.Goal = InLanding, nil, e.Old, e.New, e.Tree, e.Branch, e.Goal
	}
	return s
}

// ended gives the loop back and keeps the books.
func (s State) ended(m Meta, e Ended) State {
	if s.Claim == nil || s.Claim.Token != e.Token {
		return s
	}
	s.Claim, s.Last.Run, s.Last.NotBefore = nil, &e, e.NotBefore
	if e.Orphan != nil {
		s.Orphans = append(slices.Clone(s.Orphans), *e.Orphan)
	}
	if e.Usage != nil {
		s.Count = s.Count.charged(m.At, *e.Usage)
	}
	if e.Failure {
		s.Count.Failures++
	}
	if e.Verdict != "" {
		s.Last.Verify = e.Verdict
	}
	s.Count = s.Count.progressed(e)
	if e.Result == EndSuccess {
		s.Count.Failures, s.Last.Verify = 0, ""
		s.Last.Success, s.Last.Overdue = m.At, time.Time{}
	}
	return s
}

func (c Count) progressed(e Ended) Count {
	switch e.Progress {
	case Moved:
		c.NoProgress = 0
	case Stuck:
		c.NoProgress++
	}
	switch {
	case e.Result == EndLimit && e.Why == string(HaltContext):
		c.LowContext++
	case e.Result != EndClosed && e.Result != EndAsked:
		c.LowContext = 0
	}
	return c
}

// charged adds what a run used to its day and to the total.
func (c Count) charged(at time.Time, u Usage) Count {
	c.Day = c.Day.on(at).plus(u)
	c.Total = c.Total.plus(u)
	return c
}

// on is the day's spend, which begins anew with each day.
func (s Spend) on(at time.Time) Spend {
	if date := at.UTC().Format(time.DateOnly); s.Date != date {
		return Spend{Date: date}
	}
	return s
}

func (s Spend) plus(u Usage) Spend {
	s.Time += u.Time
	if u.Cost != nil {
		s.Cost += *u.Cost
	}
	if u.Tokens != nil {
		s.Tokens += *u.Tokens
	}
	if u.Cost == nil || u.Tokens == nil {
		s.Unknown++
	}
	return s
}
