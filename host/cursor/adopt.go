package cursor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Adoption is what a run takes over from one of the Python program: steps that
// are complete there, and answers. What is handed out there is not: it is handed
// out anew.
type Adoption struct {
	Run       string                   // its id there
	SHA256    string                   // of its state as it was read
	Completed []string                 // ids of steps
	Answers   map[string]AdoptedAnswer // by the id of the question
}

// AdoptedAnswer is an answer that was given there.
type AdoptedAnswer struct {
	Value string
	By    string // who gave it; "": nobody says
}

// AdoptedFrom says in the journal which run was taken over.
type AdoptedFrom struct {
	Run    string `json:"run"`
	SHA256 string `json:"sha256"`
}

func (t Start) from() *AdoptedFrom {
	if t.Adopted == nil {
		return nil
	}
	return &AdoptedFrom{Run: t.Adopted.Run, SHA256: t.Adopted.SHA256}
}

// adopt completes what is complete there. It must be what a run could have come
// to: a step only with all that it waits for, and one with packages only where
// they lie as its rule wants.
func (t Start) adopt(d *draft) error {
	if t.Adopted == nil {
		return nil
	}
	t.adoptAnswers(d)
	positions, err := t.adoptable(d)
	if err != nil {
		return err
	}
	for _, pos := range positions {
		step, err := d.f.Def.Step(pos)
		if err != nil {
			return err
		}
		if step.Blocking() {
			d.emit(Answered{ID: auditID(step.ID), Value: approve, By: t.answeredBy(auditID(step.ID))})
		}
		d.emit(Completed{Pos: pos, Step: step.ID, How: ByAdoption})
	}
	return nil
}

// adoptAnswers remembers who answered for an input that has that value here too.
func (t Start) adoptAnswers(d *draft) {
	for _, id := range slices.Sorted(maps.Keys(t.Adopted.Answers)) {
		key, isInput := strings.CutPrefix(id, InputID(""))
		a := t.Adopted.Answers[id]
		if value, set := d.s.Cursor.Inputs[key]; isInput && set && value == a.Value {
			d.emit(Answered{ID: id, Key: key, Value: a.Value, By: t.answeredBy(id)})
		}
	}
}

func (t Start) answeredBy(id string) string {
	if by := t.Adopted.Answers[id].By; by != "" {
		return by
	}
	return t.Who
}

// adoptable are the positions of the completed steps, in their order.
func (t Start) adoptable(d *draft) ([]int, error) {
	var done mission.Bits
	var positions []int
	for _, id := range t.Adopted.Completed {
		pos, ok, err := d.f.Def.Position(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, refuse(Usage, "the step %q is complete in the run to adopt, and the definition has no such step", id)
		}
		if !done.Has(pos) {
			done, positions = done.With(pos), append(positions, pos)
		}
	}
	slices.Sort(positions)
	var against []string
	for _, pos := range positions {
		why, err := notAdoptable(d, done, pos)
		if err != nil {
			return nil, err
		}
		against = append(against, why...)
	}
	if len(against) > 0 {
		return nil, refuse(Usage, "the run cannot be adopted: %s", strings.Join(against, "; "))
	}
	return positions, nil
}

// notAdoptable says what speaks against a step's being complete.
func notAdoptable(d *draft, done mission.Bits, pos int) (why []string, err error) {
	step, err := d.f.Def.Step(pos)
	if err != nil {
		return nil, err
	}
	deps, err := d.f.Def.Deps(pos)
	if err != nil {
		return nil, err
	}
	for _, dep := range deps {
		if done.Has(dep) {
			continue
		}
		before, err := d.f.Def.Step(dep)
		if err != nil {
			return nil, err
		}
		why = append(why, fmt.Sprintf("step %s is complete there, but not %s, which it waits for", step.ID, before.ID))
	}
	if step.Packages != nil && !d.s.until(d.f, step.Packages) {
		why = append(why, fmt.Sprintf("step %s is complete there, but its packages do not lie as it wants them here: %s", step.ID, d.lie(step.Packages)))
	}
	return why, nil
}

// lie lists the packages that are in no lane of until.
func (d *draft) lie(rule *mission.PackageRule) string {
	var all []string
	for _, p := range d.s.unmet(d.f, rule) {
		all = append(all, fmt.Sprintf("%s in %s", p.ID, d.s.lane(d.f, p.ID)))
	}
	if len(all) == 0 {
		return "there are none"
	}
	return strings.Join(all, ", ")
}
