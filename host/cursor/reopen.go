package cursor

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// reopen opens the way from the step that a rejection leads to. Where that
// step's packages all lie where it is over, nothing would be done anew: the run
// stays rejected until one moved and somebody retries.
func (d *draft) reopen(audit mission.Step, reason string) (bool, error) {
	from, ok, err := d.f.Def.Position(audit.Audit.OnReject)
	if err != nil || !ok {
		return false, err
	}
	target, err := d.f.Def.Step(from)
	if err != nil {
		return false, err
	}
	if target.Packages != nil && d.f.Fault != nil {
		return false, d.f.Fault
	}
	if target.Packages != nil && d.s.until(d.f, target.Packages) {
		return false, nil
	}
	e := Reopened{Reason: reason}
	if e.Positions, e.Audits, err = d.dependants(from); err != nil {
		return false, err
	}
	e.Audits = append(e.Audits, auditID(audit.ID))
	d.emit(e)
	return true, d.enter()
}

// dependants are a position and all complete ones that depend on it, however
// far, and the decisions of the audits among them.
func (d *draft) dependants(from int) (positions []int, audits []string, err error) {
	var reached mission.Bits
	reached = reached.With(from)
	for grown := true; grown; { // a step may stand before one that it depends on
		before := reached
		if reached, err = d.reach(reached); err != nil {
			return nil, nil, err
		}
		grown = before != reached
	}
	for pos := range reached.All() {
		if !d.s.Cursor.Done.Has(pos) {
			continue
		}
		step, err := d.f.Def.Step(pos)
		if err != nil {
			return nil, nil, err
		}
		positions = append(positions, pos)
		if step.Audit != nil {
			audits = append(audits, auditID(step.ID))
		}
	}
	return positions, audits, nil
}

// reach adds the positions that depend on one of those reached.
func (d *draft) reach(reached mission.Bits) (mission.Bits, error) {
	for pos := range d.f.Def.Len() {
		deps, err := d.f.Def.Deps(pos)
		if err != nil {
			return reached, err
		}
		if slices.ContainsFunc(deps, reached.Has) {
			reached = reached.With(pos)
		}
	}
	return reached, nil
}
