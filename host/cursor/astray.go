package cursor

import (
	"fmt"
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Beside is where a lane log has a package whose lanes the run keeps itself.
type Beside struct {
	Lane   mission.Lane // "": it does not say, or there is no such log
	Holder Holder
}

// PutBack tells whether the lane log lost a move that this run made of a package.
// Our lines are synced before their record, so no crash takes one away: the log
// was replaced by an older one, such as by a checkout.
//
//	log: WP01 in_progress→for_review (revision 7)   record 7, acknowledged
//	git checkout of the log as it was at revision 5
//	log: WP01 planned; the run knows of 7           kept back, not handed out anew
//
// A line of ours with that revision or a later one ends it: the newer log, or a
// move that says where the package is to lie.
func (s State) PutBack(f Facts, id string) bool {
	fact, ok := f.find(id)
	return ok && s.SourceOf(f) == KittySpecs && s.Packages[id].Logged > fact.Logged
}

// Elsewhere tells whether a lane log beside the run's own lanes has a package with
// somebody else, or further on than the run: handing it out would have its work
// done twice.
func (s State) Elsewhere(f Facts, id string, by Holder) bool {
	fact, ok := f.find(id)
	there := fact.Beside
	switch {
	case !ok || there.Lane == "" || s.SourceOf(f) == KittySpecs:
		return false
	case !there.Holder.IsZero():
		return !there.Holder.covers(by)
	}
	order := mission.Lanes()
	return slices.Index(order, there.Lane) > slices.Index(order, s.lane(f, id))
}

// astray says why a package that a rule offers is not handed out; "" where
// nothing is against it.
func (s State) astray(f Facts, id string, by Holder) string {
	switch {
	case s.PutBack(f, id):
		return fmt.Sprintf("%s lies in lane %s by status.events.jsonl, which lost that this run moved it to %s: an older log was put back", id, s.lane(f, id), s.Packages[id].LoggedTo)
	case s.Elsewhere(f, id, by):
		fact, _ := f.find(id)
		return fmt.Sprintf("%s lies in lane %s with %s by status.events.jsonl, and in %s by this run", id, fact.Beside.Lane, fact.Beside.Holder, s.lane(f, id))
	}
	return ""
}

// lost are the packages without a file that this run worked on and that are not
// where a step's rule wants packages: they do not vanish with their file.
func (s State) lost(f Facts, rule *mission.PackageRule) []PackageFact {
	return slices.DeleteFunc(slices.Clone(f.Lost), func(p PackageFact) bool {
		lane := s.lane(f, p.ID)
		return lane == mission.Canceled || slices.Contains(rule.Until, lane)
	})
}

// isLost tells whether a package that this run worked on has no file any more.
func (f Facts) isLost(id string) bool {
	return slices.ContainsFunc(f.Lost, func(p PackageFact) bool { return p.ID == id })
}
