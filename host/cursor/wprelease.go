package cursor

import (
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// ReleasePackage drops a package's holder, who does not come back, and puts the
// package where it is handed out from: claimed and in_progress to planned,
// in_review to for_review, blocked to where it came from. What was handed out of
// it is void, and the work keeps its attempt. Where an older lane log was put back,
// it takes the log's word: the package is handed out again from where that leaves it.
type ReleasePackage struct {
	Who     string
	Package string
	Reason  string
}

// Kind implements the commit core's Transition.
func (t ReleasePackage) Kind() string { return "wp_release" }

// Actor implements the commit core's Transition.
func (t ReleasePackage) Actor() string { return t.Who }

// Decide ends the issue and moves the package back.
func (t ReleasePackage) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := movable(s, f, t.Package); err != nil {
		return nil, err
	}
	p, from := s.Packages[t.Package], s.lane(f, t.Package)
	to := backTo(from, s.laneBefore(f, t.Package))
	if p.Stop == Block && from != mission.Blocked { // moved, and not recorded, or by the existing tool
		to = from
	}
	if p.Issue == nil && from == to && p.Stop != Block && !s.PutBack(f, t.Package) {
		return nil, refuse(NothingIssued, "package %s lies in lane %s: nobody has it", t.Package, from)
	}
	d := newDraft(s, f, now, t, Tokens{})
	if p.Issue != nil {
		d.emit(Released{Token: p.Issue.Token, Reason: t.Reason})
	}
	if p.Stop != NoStop && (from == mission.Blocked || p.Stop == Block) {
		d.emit(Retried{Step: p.StopAt, Package: t.Package, Attempt: max(p.Attempts[p.StopAt], 1), Reason: t.Reason})
	}
	if from != mission.Blocked {
		d.move(t.Package, to, Holder{}, Holder{}, t.Reason)
		if d.s.PutBack(d.f, t.Package) { // no move says so: a note does
			d.emit(Moved{Package: t.Package, From: to, To: to, Reason: t.Reason})
		}
		return d.done(nil)
	}
	d.emit(Moved{Package: t.Package, From: from, To: to, Reason: t.Reason, Force: true})
	return d.done(nil)
}

// backTo is the lane that a package is handed out from again.
func backTo(lane, before mission.Lane) mission.Lane {
	switch lane {
	case mission.Claimed, mission.InProgress:
		return mission.Planned
	case mission.InReview:
		return mission.ForReview
	case mission.Blocked:
		if before != "" && before != mission.Genesis && before != mission.Blocked {
			return before
		}
		return mission.Planned
	}
	return lane
}
