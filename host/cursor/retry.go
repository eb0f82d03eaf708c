package cursor

import (
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Retry hands a stopped step or package out again: to a holder, or to the next
// that asks.
type Retry struct {
	Who     string
	By      Holder // nobody: the next that asks
	Package string // "": the step, else the only stopped package
	Reason  string
	Tokens  Tokens
}

// Kind implements the commit core's Transition.
func (t Retry) Kind() string { return "retry" }

// Actor implements the commit core's Transition.
func (t Retry) Actor() string { return t.Who }

// Decide takes the stop away and hands out.
func (t Retry) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	if s.Phase != Running {
		return nil, refuse(NothingToRetry, "the run is over")
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if s.Cursor.Stop != NoStop && t.Package == "" {
		return t.step(d)
	}
	id, err := t.stopped(s)
	if err != nil {
		return nil, err
	}
	return t.pack(d, id)
}

func (t Retry) step(d *draft) ([]Event, error) {
	c := d.s.Cursor
	d.emit(Retried{Step: c.Step, Attempt: c.Attempt + 1, Reason: t.Reason})
	step, err := d.f.Def.Step(c.Pos)
	if err != nil {
		return nil, err
	}
	d.ask(step)
	return d.done(d.handOut(t.By))
}

// stopped is the package that is meant.
func (t Retry) stopped(s State) (string, error) {
	var stopped []string
	for id, p := range s.Packages {
		if p.Stop != NoStop {
			stopped = append(stopped, id)
		}
	}
	slices.Sort(stopped)
	switch {
	case slices.Contains(stopped, t.Package):
		return t.Package, nil
	case t.Package == "" && len(stopped) == 1:
		return stopped[0], nil
	case t.Package == "" && len(stopped) > 1:
		refusal := refuse(Usage, "%d packages are stopped: name one with --package", len(stopped))
		refusal.Options = stopped
		return "", refusal
	}
	refusal := refuse(NothingToRetry, "nothing failed or is blocked here%s", named(t.Package))
	refusal.Options = stopped
	return "", refusal
}

func named(id string) string {
	if id == "" {
		return ""
	}
	return " by the name " + id
}

// pack opens a package again: a blocked one goes back to where it is worked on
// and stays with its holder, unless another one is named.
func (t Retry) pack(d *draft, id string) ([]Event, error) {
	if d.f.Fault != nil {
		return nil, d.f.Fault
	}
	p := d.s.Packages[id]
	o, inForce, err := d.s.lender(d.f, p.StopAt, id)
	if err != nil {
		return nil, err
	}
	if inForce && d.s.selfReview(d.f, o.Step, o.Package, t.By) {
		return nil, refuse(SelfReview, "%s is the author of package %s: step %s wants somebody else", t.By.Agent, id, o.Step.ID)
	}
	by := t.By
	if by.IsZero() {
		by = d.s.laneHolder(d.f, id)
	}
	d.emit(Retried{Step: p.StopAt, Package: id, Attempt: p.Attempts[p.StopAt] + 1, Reason: t.Reason})
	t.unblock(d, id, p, o, inForce, by)
	if inForce && len(d.s.Held(by)) == 0 && len(d.s.Cursor.Questions) == 0 && !by.IsZero() && d.s.offered(d.f, o.Step, o.Package, by) {
		d.issue(o, by)
	}
	return d.done(nil)
}

// unblock takes a blocked package back to the lane in which it was worked on.
// Where the step that it stopped at has no say any more, that is in_progress,
// and nobody holds it.
func (t Retry) unblock(d *draft, id string, p Package, o Offer, inForce bool, by Holder) {
	switch {
	case p.Stop != Block || d.s.lane(d.f, id) != mission.Blocked: // the existing tool may have been there
	case inForce:
		d.move(id, o.Step.Packages.Claim, by, Holder{}, t.Reason)
	default:
		d.move(id, mission.InProgress, Holder{}, Holder{}, t.Reason)
	}
}

// lender is the rule in force by which a package is worked on at a step; ok is
// false where the step has no say at the current one, or the package is gone.
func (s State) lender(f Facts, step, id string) (o Offer, ok bool, err error) {
	fact, known := f.find(id)
	lenders, err := rules(f.Def, s.Cursor.Pos)
	if err != nil || !known {
		return Offer{}, false, err
	}
	for _, o := range lenders {
		if o.Step.ID == step {
			o.Package = fact
			return o, true, nil
		}
	}
	return Offer{}, false, nil
}
