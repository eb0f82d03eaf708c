package cursor

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

// rewind goes back to some revision, and wants that what the model keeps apart
// from the run stays: the history, tokens, and packages unless they go back too.
func (m *model) rewind(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	to := uint64(rapid.IntRange(1, len(m.r.log)).Draw(t, "revision"))
	lanes := rapid.Bool().Draw(t, "lanes")
	before := m.r.s
	x := m.r.rewind(to, lanes)
	events, err := m.do(x)
	if err != nil || len(events) == 0 {
		return
	}
	now := m.r.s
	if len(now.Issues()) > 0 {
		t.Fatalf("a rewind handed out %+v", now.Issues())
	}
	if now.Cursor.Done != x.Then.Cursor.Done || now.Cursor.Step != x.Then.Cursor.Step {
		t.Fatalf("a rewind to revision %d stands at %s with %v, not at %s with %v", to, now.Cursor.Step, now.Cursor.Done, x.Then.Cursor.Step, x.Then.Cursor.Done)
	}
	for _, p := range m.r.f.Packages {
		want := before.lane(m.r.f, p.ID)
		if lanes {
			want = x.Then.lane(m.r.f, p.ID)
		}
		if got := now.lane(m.r.f, p.ID); got != want {
			t.Fatalf("a rewind (lanes %v) left %s in %s, not in %s", lanes, p.ID, got, want)
		}
	}
}

// migrate goes over to a definition that differs in one thing, and wants that
// completed steps stay complete and work stays with its holders.
func (m *model) migrate(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") != 0 {
		t.Skip("not now")
	}
	from := m.r.f.Def.(*mission.Definition)
	to := m.otherwise(t, from)
	if len(to.Check()) > 0 {
		t.Skip("no valid definition")
	}
	before := m.r.s
	events, err := m.do(m.r.migrate(to))
	if err != nil || len(events) == 0 {
		return
	}
	if got, want := stepIDs(t, to, m.r.s.Cursor.Done), stepIDs(t, from, before.Cursor.Done); !slices.Equal(got, want) {
		t.Fatalf("complete were %v, complete are %v", want, got)
	}
	if len(m.r.s.Issues()) != len(before.Issues()) {
		t.Fatalf("handed out was %+v, handed out is %+v", before.Issues(), m.r.s.Issues())
	}
	for i, was := range before.Issues() {
		now := m.r.s.Issues()[i]
		if now.Holder != was.Holder || now.Step != was.Step || now.Package != was.Package || now.Attempt != was.Attempt {
			t.Fatalf("%+v became %+v", was, now)
		}
	}
}

func stepIDs(t *rapid.T, def *mission.Definition, set mission.Bits) []string {
	var ids []string
	for pos := range set.All() {
		step, err := def.Step(pos)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, step.ID)
	}
	slices.Sort(ids)
	return ids
}

// otherwise is the definition with a step more, one less, one renamed, or one
// that reads otherwise.
func (m *model) otherwise(t *rapid.T, from *mission.Definition) *mission.Definition {
	to := *from
	to.Steps = slices.Clone(from.Steps)
	pos := rapid.IntRange(0, len(to.Steps)-1).Draw(t, "position")
	m.plans++
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		id := fmt.Sprintf("n%d", m.plans)
		to.Steps = slices.Insert(to.Steps, pos, mission.Step{ID: id, Action: id, Inputs: drawInputs(t)})
	case 1:
		to.Steps = slices.Delete(to.Steps, pos, pos+1)
	case 2:
		to.Steps[pos].ID = fmt.Sprintf("n%d", m.plans)
	case 3:
		to.Steps[pos].Description = fmt.Sprint(m.plans)
	default:
		if to.Steps[pos].Packages != nil {
			to.Steps[pos].Packages = drawRule(t)
		}
	}
	return &to
}
