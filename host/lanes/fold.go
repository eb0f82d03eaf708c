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
		log.Last = e.at
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
	before := *p
	if before.Lane != e.to {
		p.From = before.Lane
	}
	p.Lane, p.Since, p.EventID, p.Latest = e.to, e.at, e.id, e.id
	if e.own != nil {
		e.own.apply(p)
		return
	}
	p.Ended = ""
	if handsIn(before.Lane, e.to) {
		p.handedIn(e)
	}
	p.hold(before.heldAfter(e))
}

// handedIn makes whoever held the package, else whoever moved it, the author.
func (p *Position) handedIn(e event) {
	switch {
	case p.Holder != "":
		p.Author, p.AuthorWorker = p.Holder, p.Worker
	case e.agent != "":
		p.Author, p.AuthorWorker = e.agent, ""
	}
}

// hold changes the holder. The existing tool knows no workers.
func (p *Position) hold(agent string) {
	if agent != p.Holder {
		p.Holder, p.Worker = agent, ""
	}
}

// heldAfter is who works on the package after a move of the existing tool.
func (p *Position) heldAfter(e event) string {
	switch e.to {
	case mission.Claimed, mission.InProgress:
		if p.Lane == mission.Claimed || p.Lane == mission.Blocked || p.Lane == mission.InProgress {
			return cmp.Or(e.agent, p.Holder)
		}
		return e.agent
	case mission.InReview:
		return e.agent
	case mission.Blocked:
		return p.Holder // whoever held it keeps it
	}
	return ""
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
	p.Latest = cmp.Or(e.id, p.Latest)
	switch {
	case e.own != nil:
		e.own.apply(p)
	case e.release:
		p.hold("")
	case (p.Lane == mission.Claimed || p.Lane == mission.InProgress) && e.role != "reviewer",
		p.Lane == mission.InReview && e.role != "implementer":
		p.hold(cmp.Or(e.agent, p.Holder))
	}
}
