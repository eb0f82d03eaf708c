package cursor

import (
	"slices"
	"strings"
)

// holds wants that all that is handed out can be gone on with: its step is
// there, is of the same sort, and may be current.
func (m *migration) holds() error {
	current := m.s.Cursor.Step
	pos, ok, err := m.to.Position(current)
	if err != nil {
		return err
	}
	if !ok {
		return m.taken(current, "it has no such step")
	}
	deps, err := missing(m.to, pos, m.done)
	if err != nil {
		return err
	}
	if len(deps) > 0 {
		return m.taken(current, "there it waits for "+strings.Join(deps, ", "))
	}
	was, err := m.from.Step(m.s.Cursor.Pos)
	if err != nil {
		return err
	}
	is, err := m.to.Step(pos)
	if err != nil {
		return err
	}
	if (was.Packages == nil) != (is.Packages == nil) || (was.Audit == nil) != (is.Audit == nil) ||
		is.Audit != nil && was.Audit.Enforcement != is.Audit.Enforcement {
		return m.taken(current, "there it is a step of another sort")
	}
	return m.lends(pos)
}

// lends wants that the step of each package's work still has a say at the
// current one.
func (m *migration) lends(pos int) error {
	lenders, err := rules(m.to, pos)
	if err != nil {
		return err
	}
	for _, i := range m.s.Issues() {
		if i.Package != "" && !slices.ContainsFunc(lenders, func(o Offer) bool { return o.Step.ID == i.Step }) {
			return m.taken(i.Step, "there it has no say over packages at step "+m.s.Cursor.Step)
		}
	}
	return nil
}

// taken refuses what would take work from its holder.
func (m *migration) taken(step, why string) *Refusal {
	i := m.s.Issues()[0]
	for _, other := range m.s.Issues() {
		if other.Step == step {
			i = other
			break
		}
	}
	refusal := refuseMigration("step %s is handed out to %s, and %s: let it be reported, or release it first", step, i.Holder, why)
	refusal.Holder, refusal.Since = i.Holder, i.Since
	return refusal
}

func (s State) migrated(m Meta, e Migrated) State {
	s.Definition, s.Grants, s.Commands, s.Migrated = e.Definition, e.Grants, e.Commands, m.Revision
	c := s.Cursor
	c.Done = e.Done
	for _, id := range e.Dropped {
		c.Questions = without(c.Questions, id)
	}
	pos, ok := e.Steps[c.Step]
	if !ok {
		pos, c.Step = -1, ""
	}
	c.Pos = pos
	if c.Issue != nil {
		issue := *c.Issue
		issue.Pos = pos
		c.Issue = &issue
	}
	s.Cursor = c
	for _, i := range s.Issues() {
		if i.Package != "" {
			i.Pos = e.Steps[i.Step]
			s = s.with(i.Package, func(p *Package) { p.Issue = &i })
		}
	}
	return s.touched(m)
}
