package cursor

import "github.com/spec-kitty/step-runner/host/mission"

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
	reached, err := d.reach(from)
	if err != nil {
		return nil, nil, err
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

// reach is a position and all that depend on it. A step may stand before one that
// it depends on.
func (d *draft) reach(from int) (mission.Bits, error) {
	waiting := map[int][]int{} // by position: what depends on it
	for pos := range d.f.Def.Len() {
		deps, err := d.f.Def.Deps(pos)
		if err != nil {
			return mission.Bits{}, err
		}
		for _, dep := range deps {
			waiting[dep] = append(waiting[dep], pos)
		}
	}
	reached := mission.Bits{}.With(from)
	for next := []int{from}; len(next) > 0; next = next[1:] {
		for _, pos := range waiting[next[0]] {
			if !reached.Has(pos) {
				reached = reached.With(pos)
				next = append(next, pos)
			}
		}
	}
	return reached, nil
}
