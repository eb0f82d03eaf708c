package lanes

import (
	"cmp"
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// fold takes the events in the order of (at, id) and leaves each package where
// its last move put it.
func fold(events []event) Log {
	inOrder(events)
	var log Log
	places := map[string]*Position{}
	for _, e := range events {
		p := places[e.pkg]
		if e.to == "" {
			if p != nil {
				p.note(e)
			}
			continue
		}
		if p == nil {
			p = &Position{Package: e.pkg, Lane: mission.Genesis}
			places[e.pkg] = p
		}
		p.move(e)
		log.Last = e.at
	}
	for _, p := range places {
		log.Positions = append(log.Positions, *p)
	}
	slices.SortFunc(log.Positions, func(a, b Position) int { return cmp.Compare(a.Package, b.Package) })
	return log
}

// inOrder is by time, and by id where times are the same.
func inOrder(events []event) {
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
}

func (p *Position) move(e event) {
	before := p.Lane
	if handsIn(before, e.to) {
		p.Author = cmp.Or(p.Holder, e.agent, p.Author)
	}
	p.Lane, p.Since, p.EventID = e.to, e.at, e.id
	switch e.to {
	case mission.Claimed, mission.InProgress:
		if before == mission.Claimed || before == mission.Blocked || before == mission.InProgress {
			p.Holder = cmp.Or(e.agent, p.Holder)
			return
		}
		p.Holder = e.agent
	case mission.InReview:
		p.Holder = e.agent
	case mission.Blocked:
		// Whoever held it keeps it.
	default:
		p.Holder = ""
	}
}

// handsIn tells whether a move ends somebody's work on a package.
func handsIn(from, to mission.Lane) bool {
	switch from {
	case mission.Claimed, mission.InProgress:
		return to == mission.ForReview || to == mission.InReview || to == mission.Approved || to == mission.Done
	}
	return false
}

// note sets the holder from a note of who works on the package now. A reviewer's
// note does not take over work, nor an implementer's a review.
func (p *Position) note(e event) {
	if e.release {
		p.Holder = ""
		return
	}
	switch p.Lane {
	case mission.Claimed, mission.InProgress:
		if e.role != "reviewer" {
			p.Holder = cmp.Or(e.agent, p.Holder)
		}
	case mission.InReview:
		if e.role != "implementer" {
			p.Holder = cmp.Or(e.agent, p.Holder)
		}
	}
}
