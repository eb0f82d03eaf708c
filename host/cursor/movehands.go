package cursor

import (
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// mayTake keeps a move from taking a package from somebody. What is handed out
// moves with its token or with force. What somebody has without a token, since a
// move gave it to them or their work is blocked, moves by them, by force, or to
// where they keep it.
func (t Move) mayTake(s State, f Facts) error {
	p := s.Packages[t.Package]
	switch issue := p.Issue; {
	case issue == nil && t.Token != "":
		return refuse(StaleToken, "token %s is not open: package %s is not handed out", t.Token, t.Package)
	case issue != nil && t.Token != "" && t.Token != issue.Token:
		return refuse(StaleToken, "token %s is not the one that package %s was handed out with", t.Token, t.Package)
	case t.Force || t.Token != "":
		return nil
	case issue != nil && issue.Holder == t.By:
		return refuse(TokenRequired, "package %s is handed out to you: report on it, or move it with --token %s", t.Package, issue.Token)
	case issue != nil:
		return t.held(issue.Holder, issue.Since, "with the token of that work")
	}
	holder := s.laneHolder(f, t.Package)
	if after, _ := t.hands(s, f); !holder.IsZero() && after != holder && !holder.covers(t.By) {
		return t.held(holder, s.SinceOf(f, t.Package), "by them")
	}
	return nil
}

func (t Move) held(by Holder, since time.Time, how string) *Refusal {
	refusal := packageHeld(t.Package, by, since)
	refusal.Message += ": it is moved " + how + ", or with --force and a reason"
	return refusal
}

// hands are who holds the package after the move, and who did the work that it
// hands in; nobody: the author stays.
func (t Move) hands(s State, f Facts) (holder, author Holder) {
	from, before := s.lane(f, t.Package), s.HolderOf(f, t.Package)
	mover := t.By
	if mover.IsZero() && t.Token != "" {
		mover = before
	}
	switch t.To {
	case mission.Claimed, mission.InProgress:
		if mover.IsZero() && keeps(from) {
			mover = before
		}
		return mover, Holder{}
	case mission.Blocked:
		return before, Holder{}
	case mission.InReview:
		holder = mover
		mover = Holder{} // the reviewer did not do the work
	case mission.Planned, mission.Canceled:
		return Holder{}, Holder{}
	}
	switch {
	case !working(from):
		return holder, Holder{}
	case before.IsZero() || t.Token != "" && !mover.IsZero() && !t.To.Satisfies():
		return holder, mover // as with a report; who approves did not do the work
	}
	return holder, before
}

// working tells whether work is done in a lane, not judged.
func working(lane mission.Lane) bool { return lane == mission.Claimed || lane == mission.InProgress }

// keeps tells whether a package that goes on from a lane is still whose it was:
// a reviewer does not become the worker.
func keeps(from mission.Lane) bool { return working(from) || from == mission.Blocked }

// judgesOwn tells whether an author would approve own work, or take it for
// review, where the definition does not allow it.
func (t Move) judgesOwn(s State, f Facts, holder, author Holder) (bool, error) {
	from := s.lane(f, t.Package)
	approves := t.To.Satisfies() && !from.Satisfies()
	if !approves && (t.To != mission.InReview || holder.IsZero()) {
		return false, nil
	}
	allowed, straight, err := judging(f.Def, from)
	if err != nil || allowed {
		return false, err
	}
	worker := author
	if worker.IsZero() || approves && straight {
		worker = s.AuthorOf(f, t.Package)
	}
	return !worker.IsZero() && worker.Agent == t.name(s, holder), nil
}

// name is who moves, as authors are named.
func (t Move) name(s State, holder Holder) string {
	issue := s.Packages[t.Package].Issue
	switch {
	case t.By.Agent != "":
		return t.By.Agent
	case t.Token != "" && issue != nil:
		return issue.Holder.Agent
	case holder.Agent != "":
		return holder.Agent
	}
	return t.Who
}

// judging tells whether the definition lets authors judge their own work: by
// self_review, or since no step approves packages; and whether one approves
// straight out of this lane of work, without a review in between.
func judging(def mission.View, from mission.Lane) (allowed, straight bool, err error) {
	allowed = true
	for pos := range def.Len() {
		step, err := def.Step(pos)
		if err != nil {
			return false, false, err
		}
		rule := step.Packages
		if rule == nil || !rule.Success.Satisfies() {
			continue
		}
		if rule.SelfReview {
			return true, false, nil
		}
		allowed = false
		straight = straight || working(from) && rule.Claim == from
	}
	return allowed, straight, nil
}
