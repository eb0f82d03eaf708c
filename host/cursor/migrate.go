package cursor

import (
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// The codes of a migration.
const (
	MigrationRefused Code = "migration_refused"
	NothingToMigrate Code = "nothing_to_migrate"
)

// Migrate has the run go on by another definition, and with other plugins, than
// it froze. What is complete stays complete, by step id. It hands out nothing
// new: work whose step reads otherwise now is handed out anew to its holder.
type Migrate struct {
	Who        string
	Human      string // the person who says so, "": nobody did
	Reason     string
	From       string // digest of the definition that the new one was compared with
	Definition string // what is frozen now; as in Start
	Index      string
	Plugins    map[string]string
	Grants     string
	Commands   string
	Def        mission.View // the new definition
	Tokens     Tokens
}

// Kind implements the commit core's Transition.
func (t Migrate) Kind() string { return "migrate" }

// Actor implements the commit core's Transition.
func (t Migrate) Actor() string { return t.Who }

// Decide carries the run over. No events: it goes by that definition already.
func (t Migrate) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	switch {
	case s.Phase == Aborted:
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	case s.Phase != Running:
		return nil, refuse(NothingToMigrate, "the run is over: it keeps what it went by")
	case s.Definition == t.Definition && s.Grants == t.Grants && s.Commands == t.Commands:
		return nil, nil
	case s.Definition != t.From:
		return nil, refuse(StalePlan, "the run goes by another definition than when this call began: ask again")
	}
	m := migration{t: t, s: s, from: f.Def, to: t.Def}
	if err := m.plan(); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t, t.Tokens)
	d.f.Def = t.Def
	return d.done(m.apply(d))
}

// migration is a run on its way from one definition to another.
type migration struct {
	t        Migrate
	s        State
	from, to mission.View

	done    mission.Bits
	leaves  bool // the current step is another one afterwards
	current mission.Step
	e       Migrated
}

// plan finds out where the run stands by the new definition, or why it cannot
// go on by it.
func (m *migration) plan() error {
	done, gone, err := positions(m.s.Cursor.Done, m.from, m.to)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		return refuseMigration("it has no step %s, which is complete: a completed step keeps its id", strings.Join(gone, ", "))
	}
	m.done = done
	if err := m.audit(); err != nil {
		return err
	}
	if err := m.orders(); err != nil {
		return err
	}
	if len(m.s.Issues()) > 0 {
		if err := m.holds(); err != nil {
			return err
		}
	}
	return m.stands()
}

func refuseMigration(format string, args ...any) *Refusal {
	return refuse(MigrationRefused, "the run cannot go on by the new definition: "+format, args...)
}

// audit wants a person where a blocking audit that is not approved, in hand or
// ahead, would not have to be passed any more: of one in hand alone, an agent would
// go over to a definition with a step before it first, and then to one without it.
func (m *migration) audit() error {
	if m.t.Human != "" {
		return nil
	}
	if err := m.owner(); err != nil {
		return err
	}
	for pos := range m.from.Len() {
		if m.s.Cursor.Done.Has(pos) {
			continue
		}
		step, err := m.from.Step(pos)
		if err != nil {
			return err
		}
		if !step.Blocking() {
			continue
		}
		if kept, err := blockingIn(m.to, step.ID); err != nil {
			return err
		} else if !kept {
			return refuse(AuditNeedsHuman, "the blocking audit %s is not approved, and the new definition has none of that id: a person goes over to it, with --as human:NAME", step.ID)
		}
	}
	return nil
}

// owner wants a person where the new definition's default would say who answers
// audits, which an agent does not say.
func (m *migration) owner() error {
	all, err := defaults(m.to)
	if err != nil {
		return err
	}
	_, known := m.s.Cursor.Inputs[OwnerInput]
	if owner, given := all[OwnerInput]; given && !known {
		return refuse(AuditNeedsHuman, "the new definition makes %s the default of %s, which says who answers audits: a person goes over to it, with --as human:NAME", owner, OwnerInput)
	}
	return nil
}

func blockingIn(v mission.View, id string) (bool, error) {
	pos, ok, err := v.Position(id)
	if err != nil || !ok {
		return false, err
	}
	step, err := v.Step(pos)
	return step.Blocking(), err
}

// orders wants that no completed step waits, by the new definition alone, for
// one that is not complete.
func (m *migration) orders() error {
	for pos := range m.done.All() {
		step, err := m.to.Step(pos)
		if err != nil {
			return err
		}
		deps, err := newlyMissing(m.from, m.to, step.ID, pos, m.done)
		if err != nil {
			return err
		}
		if len(deps) > 0 {
			return refuseMigration("step %s is complete and waits for %s there, which is not: rewind to it first, or put the new step after it", step.ID, strings.Join(deps, ", "))
		}
	}
	return nil
}

// stands finds the step that is current by the new definition. Work that is
// handed out keeps its step current.
func (m *migration) stands() error {
	m.e = Migrated{Definition: m.t.Definition, Index: m.t.Index, Plugins: m.t.Plugins, Grants: m.t.Grants, Commands: m.t.Commands,
		Done: m.done, Steps: map[string]int{}, Reason: m.t.Reason}
	for _, i := range m.s.Issues() {
		if err := m.at(i.Step); err != nil {
			return err
		}
	}
	if err := m.at(m.s.Cursor.Step); err != nil {
		return err
	}
	pos, kept := m.e.Steps[m.s.Cursor.Step]
	if kept {
		step, err := m.to.Step(pos)
		if err != nil {
			return err
		}
		m.current = step
	}
	if len(m.s.Issues()) == 0 {
		first, open, err := mission.FirstOpen(m.to, m.done)
		if err != nil {
			return err
		}
		m.leaves = !kept || !open || first != pos
	}
	for _, q := range m.s.Cursor.Questions {
		if m.leaves || !asks(m.current, q) {
			m.e.Dropped = append(m.e.Dropped, q.ID)
		}
	}
	return nil
}

// at notes the new position of a step, if there is one.
func (m *migration) at(id string) error {
	pos, ok, err := m.to.Position(id)
	if ok {
		m.e.Steps[id] = pos
	}
	return err
}

// asks tells whether a step still asks a question in these words. Questions of
// executors and about packages are not the definition's.
func asks(step mission.Step, q Asking) bool {
	if IsAudit(q.ID) {
		return step.Blocking() && step.Audit.Question == q.Question
	}
	if q.Key == "" {
		return true
	}
	for _, in := range step.Inputs {
		if in.Key == q.Key {
			return in.Default == nil && in.Question == q.Question && strings.Join(in.Options, "\n") == strings.Join(q.Options, "\n")
		}
	}
	return false
}

// apply makes the events.
func (m *migration) apply(d *draft) error {
	d.emit(m.e)
	if err := m.defaults(d); err != nil {
		return err
	}
	if m.leaves {
		return d.enter()
	}
	if err := m.handAnew(d); err != nil {
		return err
	}
	if d.s.Cursor.Stop == NoStop {
		d.ask(m.current)
	}
	return nil
}

// defaults gives inputs that have a default now, and no value yet, their value.
func (m *migration) defaults(d *draft) error {
	all, err := defaults(m.to)
	if err != nil {
		return err
	}
	for key := range all {
		if _, known := d.s.Cursor.Inputs[key]; known {
			delete(all, key)
		}
	}
	if len(all) > 0 {
		d.emit(InputsSet{Inputs: all})
	}
	return nil
}

// handAnew hands out anew, with new tokens, what was handed out by a step that
// reads otherwise now: its prompt and its guards are not the ones that its
// holder was given.
func (m *migration) handAnew(d *draft) error {
	for _, i := range d.s.Issues() {
		same, err := m.same(i.Step)
		if err != nil {
			return err
		}
		if !same {
			d.reissue(i)
		}
	}
	return nil
}

func (m *migration) same(id string) (bool, error) {
	before, _, err := m.from.Position(id)
	if err != nil {
		return false, err
	}
	was, err := m.from.Step(before)
	if err != nil {
		return false, err
	}
	is, err := m.to.Step(m.e.Steps[id])
	return digest(was) == digest(is), err
}
