package cursor

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// mustAsk tells whether the next that asks for work opens a question first.
func (s State) mustAsk(f Facts) (bool, error) {
	d := draft{s: s, f: f}
	err := d.askCanceled()
	return len(d.events) > 0, err
}

// askCanceled asks what to do about packages that depend on a canceled one:
// going on without it is somebody's choice. It asks only where the package
// would be worked on. One that came to depend on it after the others were
// canceled is asked about again.
func (d *draft) askCanceled() error {
	lenders, err := rules(d.f.Def, d.s.Cursor.Pos)
	if err != nil {
		return err
	}
	for _, p := range d.f.Packages {
		if !d.s.workedOn(d.f, lenders, p.ID) {
			continue
		}
		for _, dep := range p.DependsOn {
			if d.s.lane(d.f, dep) == mission.Canceled && d.s.Cursor.Answers[packageID(dep)].Value != goOn {
				d.question(Asking{
					ID:       packageID(dep),
					Question: "Package " + dep + " was canceled and " + p.ID + " depends on it. Go on without it, or cancel what depends on it?",
					Options:  []string{goOn, cancel},
				})
			}
		}
	}
	return nil
}

// workedOn tells whether the rules in force still have something to do for a
// package: it keeps the step open, or lies where one of them takes from.
func (s State) workedOn(f Facts, lenders []Offer, id string) bool {
	lane := s.lane(f, id)
	if lane.Final() {
		return false
	}
	for i, o := range lenders {
		own := i == len(lenders)-1
		if own && !slices.Contains(o.Step.Packages.Until, lane) ||
			slices.Contains(o.Step.Packages.Take, lane) || taking(o.Step.Packages, lane) {
			return true
		}
	}
	return false
}

// cancelDependants cancels what depends on a canceled package, however far.
// What was handed out of it is void.
func (d *draft) cancelDependants(id, by string) {
	for canceled := []string{id}; len(canceled) > 0; canceled = canceled[1:] {
		reason := canceled[0] + " was canceled (" + by + ")"
		for _, p := range d.f.Packages {
			if slices.Contains(p.DependsOn, canceled[0]) && d.cancel(p.ID, reason) {
				canceled = append(canceled, p.ID)
			}
		}
	}
}

// cancel tells whether the package lies in lane canceled now and did not before.
func (d *draft) cancel(id, reason string) bool {
	if d.s.lane(d.f, id).Final() {
		return false
	}
	if issue := d.s.Packages[id].Issue; issue != nil {
		d.emit(Released{Token: issue.Token, Reason: reason})
	}
	d.move(id, mission.Canceled, Holder{}, Holder{}, reason)
	return d.s.lane(d.f, id) == mission.Canceled
}
