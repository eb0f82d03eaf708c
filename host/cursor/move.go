package cursor

import (
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Move takes a package from its lane to another: along one edge, or with Force
// anywhere. It hands out nothing and completes no step: where every package then
// lies where the current step is over, the next report completes it.
type Move struct {
	Who     string
	By      Holder // nobody: an operator who holds no work
	Package string
	To      mission.Lane
	Token   string // of the issue that the move ends
	Force   bool   // wants a reason
	Reason  string
}

// Kind implements the commit core's Transition.
func (t Move) Kind() string { return "move" }

// Actor implements the commit core's Transition.
func (t Move) Actor() string { return t.Who }

// Decide moves the package. It makes at least one event or refuses.
func (t Move) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := movable(s, f, t.Package); err != nil {
		return nil, err
	}
	if err := t.legal(s, f); err != nil {
		return nil, err
	}
	if err := t.mayTake(s, f); err != nil {
		return nil, err
	}
	holder, author := t.hands(s, f)
	switch own, err := t.judgesOwn(s, f, holder, author); {
	case err != nil:
		return nil, err
	case own && !t.Force:
		return nil, refuse(SelfReview, "%s did the work on package %s: somebody else reviews it", t.name(s, holder), t.Package)
	case own:
		holder = Holder{} // who would not be handed the review does not keep it
	}
	d := newDraft(s, f, now, t, Tokens{})
	return d.done(t.move(d, holder, author))
}

// movable wants a run that goes on, lanes that are its own, and a package that
// is there.
func movable(s State, f Facts, id string) error {
	switch {
	case s.Phase == Aborted:
		return refuse(RunAbortedCode, "the run was aborted: %s", s.Reason)
	case s.Phase != Running:
		return refuse(NothingIssued, "the run is over: its packages stay where they lie")
	case f.Fault != nil:
		return f.Fault
	}
	return s.knows(f, id)
}

// legal wants one edge, or with force any other lane.
func (t Move) legal(s State, f Facts) error {
	from := s.lane(f, t.Package)
	switch unrecorded, err := t.unrecorded(s, f); {
	case err != nil:
		return err
	case from == "": // nothing of it is known any more
		return refuse(PackageNotFound, "package %s has no file in tasks/ any more: its lane is not moved here", t.Package)
	case !slices.Contains(mission.Lanes(), t.To):
		refusal := refuse(Usage, "there is no lane %.40q to move to", t.To)
		for _, lane := range mission.Lanes() {
			refusal.Options = append(refusal.Options, string(lane))
		}
		return refusal
	case t.Force && t.Reason == "":
		return refuse(Usage, "a forced move wants a reason")
	case unrecorded || from != t.To && (t.Force || mission.CanMove(from, t.To)):
		return nil
	}
	var legal []string
	for _, lane := range mission.Lanes() {
		if mission.CanMove(from, lane) {
			legal = append(legal, string(lane))
		}
	}
	refusal := refuse(IllegalMove, "no move leads %s in one step: %s", t.way(from), targets(from, legal))
	if from == t.To {
		refusal.Message = "package " + t.Package + " lies in lane " + string(from) + " already: " + targets(from, legal)
	}
	refusal.Options = legal
	return refusal
}

// unrecorded tells whether the package lies where the move leads, in a log
// outside of the run, while the run still has what the move ends: a crash came
// between log and record, or the existing tool moved it. The move then makes up
// for the record.
func (t Move) unrecorded(s State, f Facts) (bool, error) {
	p := s.Packages[t.Package]
	if s.SourceOf(f) != KittySpecs || s.lane(f, t.Package) != t.To {
		return false, nil
	}
	if p.Issue == nil {
		return t.To == mission.Blocked && p.Stop == NoStop || t.To != mission.Blocked && p.Stop == Block, nil
	}
	step, err := f.Def.Step(p.Issue.Pos)
	return err == nil && step.Packages != nil && step.Packages.Claim != t.To, err
}

func (t Move) way(from mission.Lane) string {
	return "package " + t.Package + " from " + string(from) + " to " + string(t.To)
}

func targets(from mission.Lane, legal []string) string {
	if len(legal) == 0 {
		return string(from) + " is final"
	}
	return "from " + string(from) + " it may go to " + strings.Join(legal, ", ")
}

// move emits what the move does: the issue ends, a stop is over, the package
// goes, in lane blocked it waits for a retry, and a question about its being
// canceled is over.
func (t Move) move(d *draft, holder, author Holder) error {
	p, from := d.s.Packages[t.Package], d.s.lane(d.f, t.Package)
	if p.Issue != nil {
		d.emit(Released{Token: p.Issue.Token, Reason: t.reason()})
	}
	if p.Stop != NoStop && t.To != mission.Blocked {
		d.emit(Retried{Step: p.StopAt, Package: t.Package, Attempt: p.Attempts[p.StopAt] + 1, Reason: t.reason()})
	}
	if from != t.To {
		d.emit(Moved{
			Package: t.Package, From: from, To: t.To, Holder: holder, Author: author, Reason: t.Reason,
			Force: t.Force,
		})
	}
	if q, open := d.s.Asking(packageID(t.Package)); open && t.To != mission.Canceled {
		d.emit(Withdrawn{ID: q.ID, Token: q.Token, By: t.Who, Reason: t.Package + " is not canceled any more"})
	}
	if t.To != mission.Blocked {
		return nil
	}
	step, err := d.stopsAt(p, from)
	if err != nil {
		return err
	}
	d.emit(Stopped{Step: step, Package: t.Package, Stop: Block, Reason: t.reason()})
	return nil
}

func (t Move) reason() string {
	if t.Reason != "" {
		return t.Reason
	}
	return "moved to " + string(t.To) + " by " + t.Who
}

// stopsAt is the step that a package is blocked at: the one it was handed out
// for or stopped at, else the first that would work on it, those in force before
// the others.
func (d *draft) stopsAt(p Package, from mission.Lane) (string, error) {
	switch {
	case p.Issue != nil:
		return p.Issue.Step, nil
	case p.StopAt != "":
		return p.StopAt, nil
	}
	all, err := rules(d.f.Def, d.s.Cursor.Pos)
	if err != nil {
		return "", err
	}
	for pos := range d.f.Def.Len() {
		step, err := d.f.Def.Step(pos)
		if err != nil {
			return "", err
		}
		if step.Packages != nil {
			all = append(all, Offer{Pos: pos, Step: step})
		}
	}
	for _, o := range all {
		if slices.Contains(o.Step.Packages.Take, from) || taking(o.Step.Packages, from) {
			return o.Step.ID, nil
		}
	}
	if len(all) > 0 {
		return all[len(all)-1].Step.ID, nil
	}
	return d.s.Cursor.Step, nil
}
