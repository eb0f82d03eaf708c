package cursor

import (
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Tokens is where a transition takes its new tokens from: a ULID made before
// the commit, and those that follow it. So a transition stays a plain value,
// and planning it and committing it give the same tokens.
type Tokens struct {
	First ulid.ULID `json:"first"`
}

// at is the n-th token.
func (t Tokens) at(n int) string {
	u := t.First
	for i := len(u) - 1; i >= 6 && n > 0; i-- { // the 80 random bits
		n += int(u[i])
		u[i], n = byte(n), n>>8
	}
	return u.String()
}

// draft is a decision in the making: events so far, and the state that they
// make.
type draft struct {
	s      State
	f      Facts
	meta   Meta
	tokens Tokens
	used   int
	clash  string // a token that was to be made and is known already
	ends   string // the issue whose report the next moves are
	events []Event
}

func newDraft(s State, f Facts, now time.Time, t interface {
	Kind() string
	Actor() string
}, tokens Tokens) *draft {
	return &draft{s: s, f: f, tokens: tokens,
		meta: Meta{Revision: s.Revision + 1, At: now, Actor: t.Actor(), Kind: t.Kind()}}
}

// emit is an event that happens. A move happens where the lanes live, and what
// follows is decided on the lanes that it leaves.
func (d *draft) emit(e Event) {
	if m, ok := e.(Moved); ok && d.s.SourceOf(d.f) == KittySpecs {
		m.Source = KittySpecs
		if m.Author.IsZero() && d.s.PutBack(d.f, m.Package) {
			m.Author = d.s.Packages[m.Package].Author // the log lost it with our move
		}
		d.f, e = d.f.After(m, d.meta), m
	}
	d.events = append(d.events, e)
	d.s = Evolve(d.s, d.meta, e)
}

func (d *draft) token() string {
	d.used++
	made := d.tokens.at(d.used - 1)
	if d.s.inUse(made) {
		d.clash = made
	}
	return made
}

// done is what Decide returns: the events, or the error and no events. Tokens
// that nobody made would be the same in every commit. One that is open, or whose
// report is remembered, would make work that nobody can report: the run would
// stand still for good.
func (d *draft) done(err error) ([]Event, error) {
	switch {
	case err != nil:
	case d.used > 0 && d.tokens == (Tokens{}):
		err = errors.New("cursor: the transition " + d.meta.Kind + " needs tokens and was given none")
	case d.clash != "":
		err = refuse(StalePlan, "the new token %s is one of the run already: ask again, and new ones are made", d.clash)
	}
	if err != nil {
		return nil, err
	}
	return d.events, nil
}

// complete ends the current step and enters what comes next.
func (d *draft) complete(how How, reason string) error {
	d.emit(Completed{Pos: d.s.Cursor.Pos, Step: d.s.Cursor.Step, How: how, Reason: reason})
	return d.enter()
}

// enter makes the first open step current, or ends the run.
func (d *draft) enter() error {
	pos, ok, err := mission.FirstOpen(d.f.Def, d.s.Cursor.Done)
	if err != nil {
		return err
	}
	if !ok {
		d.emit(Finished{Canceled: d.allCanceled()})
		return nil
	}
	step, err := d.f.Def.Step(pos)
	if err != nil {
		return err
	}
	d.emit(Entered{Pos: pos, Step: step.ID})
	d.ask(step)
	return nil
}

// ask opens the questions that a step has and nobody answered, or answered with
// what is none of the options any more: a migration can change them.
func (d *draft) ask(step mission.Step) {
	for _, in := range step.Inputs {
		value, known := d.s.Cursor.Inputs[in.Key]
		if in.Default != nil || known && (len(in.Options) == 0 || slices.Contains(in.Options, value)) {
			continue
		}
		d.question(Asking{ID: InputID(in.Key), Key: in.Key, Question: in.Question, Options: in.Options})
	}
	if a := step.Audit; a != nil && a.Enforcement == mission.Blocking {
		d.question(Asking{ID: auditID(step.ID), Question: a.Question, Options: []string{approve, reject}})
	}
}

func (d *draft) question(q Asking) {
	if _, open := d.s.Asking(q.ID); open {
		return
	}
	q.Token, q.Postponed = d.token(), nil
	d.emit(Asked{Asking: q})
}

func (d *draft) allCanceled() bool {
	for _, p := range d.f.Packages {
		if d.s.lane(d.f, p.ID) != mission.Canceled {
			return false
		}
	}
	return len(d.f.Packages) > 0
}

// handOut gives a holder the work that the current step has: the step itself,
// or a package. It hands out nothing where a question is open, the step is
// stopped, somebody has it, or no package is left to offer.
func (d *draft) handOut(by Holder) error {
	c := d.s.Cursor
	if d.s.Phase != Running || c.Stop != NoStop || len(c.Questions) > 0 || c.Issue != nil || by.IsZero() {
		return nil
	}
	step, err := d.f.Def.Step(c.Pos)
	if err != nil {
		return err
	}
	if step.Packages == nil {
		d.emit(Issued{Token: d.token(), Pos: c.Pos, Step: c.Step, Attempt: c.Attempt, Holder: by})
		return nil
	}
	return d.handOutPackage(by)
}

func (d *draft) handOutPackage(by Holder) error {
	if err := d.askCanceled(); err != nil || len(d.s.Cursor.Questions) > 0 {
		return err
	}
	o, ok, err := d.s.offer(d.f, by)
	if err != nil || !ok {
		return err
	}
	d.issue(o, by)
	return nil
}

// issue hands an offered package out, along the edges that lead to the lane of
// work.
func (d *draft) issue(o Offer, by Holder) {
	id, source := o.Package.ID, d.s.SourceOf(d.f)
	d.move(id, o.Step.Packages.Claim, by, Holder{}, "")
	d.emit(Issued{
		Token: d.token(), Pos: o.Pos, Step: o.Step.ID, Package: id,
		Attempt: d.s.Packages[id].Attempts[o.Step.ID] + 1, Holder: by, Source: source,
	})
}

// move takes a package along the edges from its lane to another. Who holds it
// at the end is given; on the way it is whoever takes it.
func (d *draft) move(id string, to mission.Lane, holder, author Holder, reason string) {
	from := d.s.lane(d.f, id)
	path, ok := mission.Path(from, to)
	if !ok {
		return // a final lane: it stays where it is
	}
	for i, next := range path {
		m := Moved{Package: id, From: from, To: next, Holder: holder, Author: author, Reason: reason}
		if i == len(path)-1 {
			m.Ends = d.ends
		}
		d.emit(m)
		from = next
	}
	if len(path) == 0 && d.s.laneHolder(d.f, id) != holder {
		d.emit(Moved{Package: id, From: from, To: to, Holder: holder, Author: author, Reason: reason})
	}
}

// free takes a package from whoever holds it and leaves it where it lies.
func (d *draft) free(id, reason string) {
	d.move(id, d.s.lane(d.f, id), Holder{}, Holder{}, reason)
}

// freeAll frees what is handed out, where the lanes live outside of the run:
// there the end of an issue is not seen.
func (d *draft) freeAll(reason string) {
	if d.s.SourceOf(d.f) != KittySpecs || d.f.Fault != nil {
		return
	}
	for _, issue := range d.s.Issues() {
		if issue.Package != "" {
			d.free(issue.Package, reason)
		}
	}
}
