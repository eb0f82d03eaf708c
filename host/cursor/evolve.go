package cursor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Meta is what a record says of all its events.
type Meta struct {
	Revision uint64
	At       time.Time
	Actor    string
	Kind     string // of the transition
}

// Evolve is the state after an event. It is total: it never fails, and events
// that do not fit (no Decide makes them) leave what they do not fit unchanged.
func Evolve(s State, m Meta, event Event) State {
	s.Revision = m.Revision
	switch e := event.(type) {
	case Started:
		s.Run, s.Mission, s.Type = e.Run, e.Mission, e.Type
		s.Definition, s.Grants, s.Commands, s.Seed, s.Phase = e.Definition, e.Grants, e.Commands, e.Seed, Running
		s.Cursor.Pos = -1
	case Issued:
		return s.issued(m, e)
	case Reported:
		return s.reported(m, e)
	case Released:
		return s.released(m, e)
	case Moved:
		return s.moved(m, e)
	case Stopped:
		return s.stopped(m, e)
	case Retried:
		return s.retried(m, e)
	case Rewound:
		return s.rewound(m, e)
	case Migrated:
		return s.migrated(m, e)
	case Published:
		return s.settled(e.Revision)
	case Discarded:
		return s.settled(e.Revision)
	case Finished:
		s.Phase = Done
		if e.Canceled {
			s.Phase = Canceled
		}
		s = s.cleared()
		s.Cursor.Pos, s.Cursor.Step, s.Cursor.Questions = -1, "", nil
	case RunAborted:
		s.Phase, s.Reason = Aborted, e.Reason
		s = s.cleared()
		s.Receipts, s.Cursor.Questions = nil, nil
	case Completed:
		if e.How == BySkip && e.Pos == s.Cursor.Pos {
			s = s.cleared()
			s.Receipts = nil
		}
		s.Cursor = s.Cursor.evolve(event)
	case Postponed:
		s.Cursor = s.Cursor.postponed(m, e)
	default:
		s.Cursor = s.Cursor.evolve(event)
	}
	return s.touched(m)
}

// touched counts a change of the cursor and remembers who made it.
func (s State) touched(m Meta) State {
	s.Cursor.Count++
	s.Moved = Change{Revision: m.Revision, By: m.Actor, Kind: m.Kind, At: m.At}
	return s
}

// cleared ends every issue: what was handed out is void, and nobody holds the
// packages any more.
func (s State) cleared() State {
	s.Cursor.Issue = nil
	for _, issue := range s.Issues() {
		s = s.with(issue.Package, func(p *Package) { p.Issue, p.Holder = nil, Holder{} })
	}
	return s
}

// with changes one package in a copy of the map.
func (s State) with(id string, change func(*Package)) State {
	p := s.Packages[id]
	p.Count++
	change(&p)
	s.Packages = put(s.Packages, id, p)
	return s
}

// put sets one key in a copy of a map that may be nil.
func put[V any](m map[string]V, key string, value V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

func (c Cursor) evolve(event Event) Cursor {
	switch e := event.(type) {
	case Entered:
		c.Pos, c.Step, c.Attempt, c.Failures = e.Pos, e.Step, 1, 0
		c.Stop, c.Reason = NoStop, "" // feedback stays: of the rejection that led back here
		c.Issue = nil
	case Asked:
		c.Questions = append(slices.Clone(c.Questions), e.Asking)
	case Answered:
		return c.answered(e)
	case InputsSet:
		for key, value := range e.Inputs {
			c.Inputs = put(c.Inputs, key, value)
		}
	case Completed:
		if e.Pos < 0 || e.Pos >= mission.MaxSteps {
			return c
		}
		c.Done = c.Done.With(e.Pos)
		if e.How != BySkip { // what nobody did saw no answer
			c.Answers = used(c.Answers, e.Step)
		}
		if e.Pos == c.Pos {
			c.Issue, c.Stop, c.Reason, c.Feedback = nil, NoStop, "", ""
			c.Questions = nil
		}
	case Reopened:
		return c.reopened(e)
	case Withdrawn:
		c.Questions = without(c.Questions, e.ID)
	}
	return c
}

func (c Cursor) answered(e Answered) Cursor {
	options := c.Answers[e.ID].Options // of an answer that is replaced
	for _, q := range c.Questions {
		if q.ID == e.ID {
			options = q.Options
		}
	}
	c.Questions = without(c.Questions, e.ID)
	c.Answers = put(c.Answers, e.ID, Answer{Value: e.Value, By: e.By, Token: e.Token, Reason: e.Reason, Options: options})
	if e.Key != "" {
		return c.evolve(InputsSet{Inputs: map[string]string{e.Key: e.Value}})
	}
	return c
}

func without(open []Asking, id string) []Asking {
	return slices.DeleteFunc(slices.Clone(open), func(q Asking) bool { return q.ID == id })
}

// used notes the step in all answers that none was completed with before: what
// was made with an answer stays as it was made.
func used(answers map[string]Answer, step string) map[string]Answer {
	for id, a := range answers {
		if a.Used == "" {
			a.Used = step
			answers = put(answers, id, a)
		}
	}
	return answers
}

func (c Cursor) postponed(m Meta, e Postponed) Cursor {
	c.Questions = slices.Clone(c.Questions)
	for i := range c.Questions {
		if c.Questions[i].ID == e.ID {
			c.Questions[i].Postponed = &Postponement{By: e.By, Reason: e.Reason, At: m.At}
		}
	}
	return c
}

// reopened forgets the verdicts of the audits on the reopened way: they are
// asked again.
func (c Cursor) reopened(e Reopened) Cursor {
	for _, pos := range e.Positions {
		c.Done = c.Done.Without(pos)
	}
	c.Answers = maps.Clone(c.Answers)
	for _, id := range e.Audits {
		delete(c.Answers, id)
	}
	c.Stop, c.Reason, c.Feedback = NoStop, "", e.Reason
	c.Issue, c.Questions = nil, nil
	return c
}

func (s State) issued(m Meta, e Issued) State {
	issue := &Issue{
		Token: e.Token, Pos: e.Pos, Step: e.Step, Package: e.Package, Attempt: e.Attempt,
		Holder: e.Holder, Since: m.At, Revision: m.Revision,
	}
	if e.Package == "" {
		s.Cursor.Issue, s.Cursor.Attempt = issue, e.Attempt
		return s.touched(m)
	}
	if e.Source != "" {
		s.Source = e.Source
	}
	return s.with(e.Package, func(p *Package) {
		p.Issue = issue
		p.Attempts = put(p.Attempts, e.Step, e.Attempt)
	})
}

// ended takes away the issue with a token.
func (s State) ended(m Meta, token string) State {
	if token == "" {
		return s // a package step's own report
	}
	if i := s.Cursor.Issue; i != nil && i.Token == token {
		s.Cursor.Issue = nil
		return s.touched(m)
	}
	for id, p := range s.Packages {
		if p.Issue != nil && p.Issue.Token == token {
			return s.with(id, func(p *Package) { p.Issue = nil })
		}
	}
	return s
}

// released is ended without a report: the attempt counts as not begun.
func (s State) released(m Meta, e Released) State {
	issue, ok := s.Issue(e.Token)
	s = s.ended(m, e.Token)
	if !ok || issue.Package == "" {
		return s
	}
	return s.with(issue.Package, func(p *Package) {
		p.Holder = Holder{}
		p.Attempts = put(p.Attempts, issue.Step, issue.Attempt-1)
	})
}

// remember keeps the report as its holder's last.
func (s State) remember(r Receipt) State {
	kept := slices.DeleteFunc(slices.Clone(s.Receipts), func(o Receipt) bool { return o.Holder == r.Holder })
	s.Receipts = append(kept, r)
	return s
}

func (s State) stopped(m Meta, e Stopped) State {
	if e.Package != "" {
		return s.with(e.Package, func(p *Package) { p.Stop, p.StopAt, p.Reason = e.Stop, e.Step, e.Reason })
	}
	s.Cursor.Stop, s.Cursor.Reason = e.Stop, e.Reason
	return s.touched(m)
}

// retried opens a stopped step or package again. Who reported what before the
// retry can no longer be repeated.
func (s State) retried(m Meta, e Retried) State {
	s.Receipts = nil
	if e.Package != "" {
		return s.with(e.Package, func(p *Package) {
			p.Stop, p.StopAt, p.Reason = NoStop, "", ""
			p.Attempts = put(p.Attempts, e.Step, e.Attempt-1)
		})
	}
	s.Cursor.Stop, s.Cursor.Reason, s.Cursor.Attempt = NoStop, "", e.Attempt
	s.Cursor.Answers = maps.Clone(s.Cursor.Answers)
	delete(s.Cursor.Answers, auditID(e.Step))
	return s.touched(m)
}

// moved also settles the source. Of a move in an outside log the run keeps only
// that it was made, where it led, and whose work it handed in, for a log that
// loses it: the log says where the package lies.
func (s State) moved(m Meta, e Moved) State {
	if s.Source == "" {
		s.Source = cmp.Or(e.Source, Journal)
	}
	return s.with(e.Package, func(p *Package) {
		if e.To == mission.Canceled {
			p.Stop, p.StopAt, p.Reason = NoStop, "", ""
		}
		if e.Source == KittySpecs {
			p.Logged, p.LoggedTo = m.Revision, e.To
			if !e.Author.IsZero() {
				p.Author = e.Author
			}
			return
		}
		p.move(e)
		p.Since = m.At
	})
}

func (p *Package) move(e Moved) {
	if e.From != e.To { // else only the holder changes
		p.From = e.From
	}
	p.Lane, p.Holder = e.To, e.Holder
	if !e.Author.IsZero() {
		p.Author = e.Author
	}
}
