package cursor

import (
	"fmt"
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Stranded is a package that the current step waits for and that no report of
// anybody moves on: nobody has it, and no rule in force takes from where it lies.
//
//	review fails WP01 → planned; at review only for_review is taken
//	WP02 waits for WP01 in for_review; at implement only planned is taken
//
// A move by hand helps, towards where a rule takes it; which that is follows from
// the lanes alone, so everybody is told the same.
type Stranded struct {
	Package string
	From    mission.Lane
	To      mission.Lane // the next lane on the way
	Force   bool         // no legal move leads to where the package is taken
	WaitFor string       // the package that waits for this one; "": the step does
}

// Stranded lists them, in file order; none where no step with packages is current.
func (s State) Stranded(f Facts) ([]Stranded, error) {
	if s.Phase != Running || f.Fault != nil {
		return nil, f.Fault
	}
	inForce, err := rules(f.Def, s.Cursor.Pos)
	if err != nil || len(inForce) == 0 {
		return nil, err
	}
	var all []Stranded
	for _, p := range f.Packages {
		if !s.free(f, p.ID) || takenBy(inForce, s.lane(f, p.ID)) || len(s.waitsFor(f, p)) > 0 {
			continue
		}
		if at, ok := s.stranded(f, inForce, p.ID); ok {
			all = append(all, at)
		}
	}
	return all, nil
}

// free tells whether nobody has a package and nothing else is known to keep it.
func (s State) free(f Facts, id string) bool {
	return s.Packages[id].Issue == nil && s.Packages[id].Stop == NoStop && s.HolderOf(f, id).IsZero() &&
		s.lane(f, id) != mission.Genesis && s.astray(f, id, Holder{}) == ""
}

// takenBy tells whether a rule in force takes from a lane, whoever asks.
func takenBy(inForce []Offer, lane mission.Lane) bool {
	return slices.ContainsFunc(inForce, func(o Offer) bool {
		return slices.Contains(o.Step.Packages.Take, lane) || taking(o.Step.Packages, lane)
	})
}

// stranded is where a free package that nothing takes is to be moved, if
// something waits for it.
func (s State) stranded(f Facts, inForce []Offer, id string) (Stranded, bool) {
	at, own := Stranded{Package: id, From: s.lane(f, id)}, inForce[len(inForce)-1].Step.Packages
	if !slices.Contains(own.Until, at.From) {
		return at.towards(worked(inForce), own.Until), true
	}
	if at.From.Satisfies() || at.From == mission.Canceled { // a canceled one asks
		return at, false
	}
	for _, p := range s.unmet(f, own) {
		if slices.Contains(p.DependsOn, id) {
			at.WaitFor = p.ID
			return at.towards([]mission.Lane{mission.Approved, mission.Done}), true
		}
	}
	return at, false
}

// worked are the lanes that the rules in force take from, the step's own first.
func worked(inForce []Offer) []mission.Lane {
	var lanes []mission.Lane
	for _, o := range slices.Backward(inForce) {
		lanes = append(lanes, o.Step.Packages.Take...)
	}
	return lanes
}

// towards takes the first move to the first lane that moves lead to: rather where
// work goes on than where it counts as done.
func (at Stranded) towards(goals ...[]mission.Lane) Stranded {
	for _, goal := range slices.Concat(goals...) {
		if path, ok := mission.Path(at.From, goal); ok && len(path) > 0 && goal != mission.Canceled && goal != mission.Blocked {
			at.To = path[0]
			return at
		}
	}
	at.To, at.Force = goals[0][0], true
	return at
}

// why says in words what keeps the package where it is.
func (at Stranded) why(step string) string {
	if at.WaitFor != "" {
		return fmt.Sprintf("%s, which %s waits for, lies in lane %s, from where nothing takes it at step %s: it has to be moved on", at.Package, at.WaitFor, at.From, step)
	}
	return fmt.Sprintf("%s lies in lane %s, which step %s neither takes from nor ends with: it has to be moved on", at.Package, at.From, step)
}
