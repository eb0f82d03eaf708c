package cursor

import (
	"slices"
	"strings"
	"time"
)

// Claim asks for a work package: for a named one, or for the next. It hands out
// by the rules in force at the current step and reports nothing.
type Claim struct {
	Who     string
	By      Holder
	Package string // "": the next
	Tokens  Tokens
}

// Kind implements the commit core's Transition.
func (t Claim) Kind() string { return "claim" }

// Actor implements the commit core's Transition.
func (t Claim) Actor() string { return t.Who }

// Decide hands the package out. No events: it is handed out to the claimer
// already, a question comes first, or the run is over.
func (t Claim) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if t.By.IsZero() {
		return nil, refuse(Usage, "a claim names who makes it")
	}
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	if f.Fault != nil && s.Phase == Running {
		return nil, f.Fault
	}
	if t.Package != "" {
		if err := s.knows(f, t.Package); err != nil {
			return nil, err
		}
	}
	if s.Phase != Running || t.has(s) {
		return nil, nil
	}
	step, err := f.Def.Step(s.Cursor.Pos)
	switch {
	case err != nil:
		return nil, err
	case s.Cursor.Stop != NoStop:
		return nil, stopRefusal(s.Cursor.Stop, "step "+s.Cursor.Step, s.Cursor.Reason)
	case len(s.Cursor.Questions) > 0:
		return nil, nil
	case step.Packages == nil:
		return nil, refuse(Waiting, "no package is handed out at step %s: it does not work on packages", step.ID)
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if err := d.askCanceled(); err != nil || len(d.events) > 0 {
		return d.done(err)
	}
	if t.Package == "" {
		return t.next(d)
	}
	return t.named(d)
}

// knows refuses a package that has no file and never had a lane.
func (s State) knows(f Facts, id string) error {
	if _, ok := f.find(id); ok {
		return nil
	}
	if _, ok := s.Packages[id]; ok {
		return nil
	}
	if !f.Def.HasPackages() {
		return refuse(PackageNotFound, "no step of this run's definition works on packages")
	}
	refusal := refuse(PackageNotFound, "there is no package %q in tasks/", id)
	for _, p := range f.Packages {
		refusal.Options = append(refusal.Options, p.ID)
	}
	return refusal
}

// has tells whether the claimer was handed what it claims already.
func (t Claim) has(s State) bool {
	return slices.ContainsFunc(s.Held(t.By), func(i Issue) bool {
		return i.Package != "" && (t.Package == "" || i.Package == t.Package)
	})
}

func (t Claim) next(d *draft) ([]Event, error) {
	o, ok, err := d.s.offer(d.f, t.By)
	if err != nil {
		return nil, err
	}
	if ok {
		d.issue(o, t.By)
		return d.done(nil)
	}
	here, err := At(d.s, d.f, t.By)
	switch {
	case err != nil:
		return nil, err
	case here.Standing == AtClose:
		return nil, refuse(Waiting, "no package is left at step %s: a report with --result success ends the step", here.Step)
	}
	return nil, here.Refusal()
}

func (t Claim) named(d *draft) ([]Event, error) {
	lenders, err := rules(d.f.Def, d.s.Cursor.Pos)
	if err != nil {
		return nil, err
	}
	fact, ok := d.f.find(t.Package)
	if !ok {
		return nil, refuse(Waiting, "package %s has no file in tasks/ any more: put it back", t.Package)
	}
	for _, o := range lenders {
		if o.Package = fact; d.s.offered(d.f, o.Step, fact, t.By) {
			d.issue(o, t.By)
			return d.done(nil)
		}
	}
	return nil, t.whyNot(d.s, d.f, lenders, fact)
}

// whyNot says why a named package is not handed out to the claimer.
func (t Claim) whyNot(s State, f Facts, lenders []Offer, p PackageFact) *Refusal {
	own, lane := s.Packages[p.ID], s.lane(f, p.ID)
	holder := s.HolderOf(f, p.ID)
	switch deps := s.waitsFor(f, p); {
	case own.Issue != nil:
		return packageHeld(p.ID, own.Issue.Holder, own.Issue.Since)
	case own.Stop != NoStop:
		return stopRefusal(own.Stop, "package "+p.ID, own.Reason)
	case !holder.IsZero() && !holder.covers(t.By):
		return packageHeld(p.ID, holder, s.SinceOf(f, p.ID))
	case s.astray(f, p.ID, t.By) != "":
		return refuse(Waiting, "%s", s.astray(f, p.ID, t.By))
	case len(deps) > 0:
		return refuse(Waiting, "%s waits for %s", p.ID, strings.Join(deps, ", "))
	}
	var takes []string
	for _, o := range lenders {
		if rule := o.Step.Packages; slices.Contains(rule.Take, lane) || taking(rule, lane) {
			return refuse(SelfReview, "%s is the author of package %s: step %s wants somebody else", t.By.Agent, p.ID, o.Step.ID)
		}
		for _, take := range o.Step.Packages.Take {
			takes = append(takes, string(take))
		}
	}
	return refuse(Waiting, "%s lies in lane %s, and step %s hands out from: %s", p.ID, lane, s.Cursor.Step, strings.Join(takes, ", "))
}

// covers tells whether work that h holds may be handed to another name: the same
// one, or any worker of an agent that was named without one.
func (h Holder) covers(by Holder) bool {
	return h == by || h.Worker == "" && h.Agent == by.Agent
}

func packageHeld(id string, holder Holder, since time.Time) *Refusal {
	refusal := refuse(PackageHeld, "package %s is with %s since %s", id, holder, since.UTC().Format(time.RFC3339))
	refusal.Holder, refusal.Since = holder, since
	return refusal
}
