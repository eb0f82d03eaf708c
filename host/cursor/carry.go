package cursor

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Carried is the state of a run that went by one definition, as far as it holds
// by another: steps are the same where their ids are. Completed steps that the
// other does not have are left out, and where the current step cannot be
// current any more, the first open one is. Nothing is handed out in it, and its
// questions are those of the step that stayed current.
func Carried(s State, from, to mission.View) (State, error) {
	s = s.cleared()
	done, _, err := positions(s.Cursor.Done, from, to)
	if err != nil {
		return s, err
	}
	s.Cursor.Done = done
	if s.Phase != Running {
		return s, nil
	}
	pos, ok, err := mission.FirstOpen(to, done)
	if err != nil {
		return s, err
	}
	if !ok {
		s.Phase, s.Cursor.Pos, s.Cursor.Step, s.Cursor.Questions = Done, -1, "", nil
		return s, nil
	}
	step, err := to.Step(pos)
	if err != nil {
		return s, err
	}
	if step.ID == s.Cursor.Step {
		s.Cursor.Pos = pos
		s.Cursor.Questions = slices.DeleteFunc(slices.Clone(s.Cursor.Questions), func(q Asking) bool { return !asks(step, q) })
		return s, nil
	}
	s.Cursor = s.Cursor.evolve(Entered{Pos: pos, Step: step.ID})
	s.Cursor.Questions = nil
	return s, nil
}

// positions are the same steps' positions in another definition, and the ids of
// those that it does not have.
func positions(set mission.Bits, from, to mission.View) (there mission.Bits, gone []string, err error) {
	for pos := range set.All() {
		step, err := from.Step(pos)
		if err != nil {
			return there, nil, err
		}
		at, ok, err := to.Position(step.ID)
		if err != nil {
			return there, nil, err
		}
		if !ok {
			gone = append(gone, step.ID)
			continue
		}
		there = there.With(at)
	}
	return there, gone, nil
}

// missing are the steps that one waits for by a definition and that are not
// complete.
func missing(v mission.View, pos int, done mission.Bits) ([]string, error) {
	deps, err := v.Deps(pos)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, dep := range deps {
		if done.Has(dep) {
			continue
		}
		step, err := v.Step(dep)
		if err != nil {
			return nil, err
		}
		ids = append(ids, step.ID)
	}
	return ids, nil
}

// newlyMissing are those of missing that the step did not wait for before.
func newlyMissing(from, to mission.View, id string, pos int, done mission.Bits) ([]string, error) {
	ids, err := missing(to, pos, done)
	if len(ids) == 0 || err != nil {
		return nil, err
	}
	before, ok, err := from.Position(id)
	if err != nil || !ok {
		return nil, err
	}
	known, err := missing(from, before, mission.Bits{})
	return slices.DeleteFunc(ids, func(dep string) bool { return slices.Contains(known, dep) }), err
}
