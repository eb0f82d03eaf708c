package cursor

import (
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// The codes of operator verbs that find nothing to do.
const (
	NothingToRetry Code = "nothing_to_retry"
	NothingToAbort Code = "nothing_to_abort"
	StepNotFound   Code = "step_not_found"
)

// Skip completes a step without its work. Where it is the current one, what was
// handed out of it is void.
type Skip struct {
	Who    string
	Step   string
	Reason string
	By     Holder // who gets what comes next; nobody: the next that asks
	Tokens Tokens
}

// StepUnknown is the refusal of a step that the definition does not have. It
// names those that there are, unless there are very many.
func StepUnknown(def mission.View, id string) error {
	refusal := refuse(StepNotFound, "the definition that this run goes by has no step %q", id)
	for pos := range min(def.Len(), 100) {
		step, err := def.Step(pos)
		if err != nil {
			return err
		}
		refusal.Options = append(refusal.Options, step.ID)
	}
	return refusal
}

// Kind implements the commit core's Transition.
func (t Skip) Kind() string { return "skip" }

// Actor implements the commit core's Transition.
func (t Skip) Actor() string { return t.Who }

// Decide completes the step. No events: it is complete already.
func (t Skip) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	pos, ok, err := f.Def.Position(t.Step)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, StepUnknown(f.Def, t.Step)
	case s.Cursor.Done.Has(pos):
		return nil, nil
	case s.Phase != Running:
		return nil, refuse(NothingIssued, "the run is over")
	}
	if err := t.unaudited(s, f, pos); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if pos != s.Cursor.Pos {
		d.emit(Completed{Pos: pos, Step: t.Step, How: BySkip, Reason: t.Reason})
		return d.done(nil)
	}
	d.freeAll(t.Reason)
	if err := d.complete(BySkip, t.Reason); err != nil {
		return nil, err
	}
	return d.done(d.handOut(t.By))
}

// unaudited refuses a blocking audit: skipping it would approve it, and leave out
// who may, and the question that was shown.
func (t Skip) unaudited(s State, f Facts, pos int) error {
	step, err := f.Def.Step(pos)
	if err != nil || step.Audit == nil || step.Audit.Enforcement != mission.Blocking {
		return err
	}
	return refuse(AuditNeedsHuman, "step %s is a blocking audit, which is not skipped: %s approves or rejects it", t.Step, s.auditor())
}

// Release takes an issue, or a package that is kept without one, from a holder
// who does not come back. The work keeps its attempt and goes to the next that
// asks.
type Release struct {
	Who     string
	Token   string // which issue: by its token,
	Package string // by its package, or "": the only one
	Reason  string
}

// Kind implements the commit core's Transition.
func (t Release) Kind() string { return "release" }

// Actor implements the commit core's Transition.
func (t Release) Actor() string { return t.Who }

// Decide ends the issue.
func (t Release) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase == Aborted {
		return nil, refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	}
	d := newDraft(s, f, now, t, Tokens{})
	var meant, names []string
	for _, i := range s.Issues() {
		name := i.Step
		if i.Package != "" {
			name = i.Package
		}
		names = append(names, name)
		if (t.Token == "" || t.Token == i.Token) && (t.Package == "" || t.Package == i.Package) {
			meant = append(meant, i.Token)
		}
	}
	switch {
	case len(meant) > 1:
		refusal := refuse(Usage, "%d issues are open: name one with --package or --token", len(meant))
		refusal.Options = names
		return nil, refusal
	case len(meant) == 0 && t.Token == "" && s.keptBack(f, t.Package): // its work is blocked, or waited for an answer
		d.free(t.Package, t.Reason)
		return d.done(nil)
	case len(meant) == 0:
		refusal := refuse(NothingIssued, "nothing like that is handed out")
		refusal.Options = names
		return nil, refusal
	}
	issue, _ := s.Issue(meant[0])
	d.emit(Released{Token: meant[0], Reason: t.Reason})
	if issue.Package != "" && f.Fault == nil {
		d.free(issue.Package, t.Reason)
	}
	return d.done(nil)
}

// keptBack tells whether somebody keeps the package without its being handed
// out.
func (s State) keptBack(f Facts, id string) bool {
	return s.Packages[id].Issue == nil && !s.laneHolder(f, id).IsZero()
}

// Abort ends the run before its end, for good.
type Abort struct {
	Who    string
	Reason string
}

// Kind implements the commit core's Transition.
func (t Abort) Kind() string { return "abort" }

// Actor implements the commit core's Transition.
func (t Abort) Actor() string { return t.Who }

// Decide ends the run. No events: it was aborted already. What came to its end
// by itself cannot be aborted any more.
func (t Abort) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	switch s.Phase {
	case Aborted:
		return nil, nil
	case Done, Canceled:
		return nil, refuse(NothingToAbort, "the run is over: it is %s", s.Phase)
	}
	d := newDraft(s, f, now, t, Tokens{})
	d.freeAll(t.Reason)
	d.emit(RunAborted{Reason: t.Reason})
	return d.done(nil)
}
