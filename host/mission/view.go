package mission

import (
	"fmt"
	"slices"
)

var _ View = (*Definition)(nil)

// Len is the number of steps.
func (d *Definition) Len() int { return len(d.Steps) }

// Step is the step at a position.
func (d *Definition) Step(pos int) (Step, error) {
	if pos < 0 || pos >= len(d.Steps) {
		return Step{}, &PositionError{Pos: pos, Len: len(d.Steps)}
	}
	return d.Steps[pos], nil
}

// Position finds a step by its id.
func (d *Definition) Position(id string) (pos int, ok bool, err error) {
	pos = slices.IndexFunc(d.Steps, func(s Step) bool { return s.ID == id })
	return max(pos, 0), pos >= 0, nil
}

// Deps are the positions that must be complete before pos is chosen. Where no
// step of the definition depends on another, each waits for the one before it.
func (d *Definition) Deps(pos int) ([]int, error) {
	step, err := d.Step(pos)
	if err != nil {
		return nil, err
	}
	if d.inFileOrder() {
		if pos == 0 {
			return nil, nil
		}
		return []int{pos - 1}, nil
	}
	deps := make([]int, 0, len(step.DependsOn))
	for _, id := range step.DependsOn {
		dep, ok, _ := d.Position(id)
		if !ok {
			return nil, fmt.Errorf("step %q depends on %q, which is no step", step.ID, id)
		}
		deps = append(deps, dep)
	}
	return deps, nil
}

// HasPackages tells whether any step works on packages, or has a guard that asks
// where one lies.
func (d *Definition) HasPackages() bool {
	return slices.ContainsFunc(d.Steps, func(s Step) bool {
		return s.Packages != nil || slices.ContainsFunc(s.Guards, func(g Guard) bool { return g.WorkPackages != nil })
	})
}

// Plugins are the plugins that the definition names, each once, sorted.
func (d *Definition) Plugins() []string {
	var names []string
	for _, s := range d.Steps {
		if s.Executor != nil {
			names = append(names, s.Executor.Plugin)
		}
		for _, g := range s.Guards {
			if g.Plugin != nil {
				names = append(names, g.Plugin.Plugin)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (d *Definition) inFileOrder() bool {
	return !slices.ContainsFunc(d.Steps, func(s Step) bool { return len(s.DependsOn) > 0 })
}

// PositionError says that a definition of Len steps has none at Pos.
type PositionError struct{ Pos, Len int }

func (e *PositionError) Error() string {
	return fmt.Sprintf("no step at position %d: the definition has %d", e.Pos, e.Len)
}

// FirstOpen is the step to go on with: the first position that is not in done
// and whose dependencies all are. ok is false when there is none; with a
// definition that Check accepts, that means that all steps are complete.
func FirstOpen(v View, done Bits) (pos int, ok bool, err error) {
	for pos = done.FirstClear(0); pos < v.Len(); pos = done.FirstClear(pos + 1) {
		deps, err := v.Deps(pos)
		if err != nil {
			return 0, false, err
		}
		if !slices.ContainsFunc(deps, func(dep int) bool { return !done.Has(dep) }) {
			return pos, true, nil
		}
	}
	return 0, false, nil
}
