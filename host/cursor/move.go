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
	if err := t.legal(s.lane(f, t.Package)); err != nil {
		return nil, err
	}
	if err := t.mayTake(s); err != nil {
		return nil, err
	}
	holder, author := t.hands(s)
	switch own, err := t.judgesOwn(s, f, holder); {
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
	if err := s.knows(f, id); err != nil {
		return err
	}
	if s.SourceOf(f) != Journal {
		return refuse(LanesReadOnly, "package %s lies where status.events.jsonl says, and that log is only read in this version: move it with the tool that keeps it", id)
	}
	return nil
}

// legal wants one edge, or with force any other lane.
func (t Move) legal(from mission.Lane) error {
	switch {
	case !slices.Contains(mission.Lanes(), t.To):
		refusal := refuse(Usage, "there is no lane %q to move to", t.To)
		for _, lane := range mission.Lanes() {
			refusal.Options = append(refusal.Options, string(lane))
		}
		return refusal
	case t.Force && t.Reason == "":
		return refuse(Usage, "a forced move wants a reason")
	case from != t.To && (t.Force || mission.CanMove(from, t.To)):
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

func (t Move) way(from mission.Lane) string {
	return "package " + t.Package + " from " + string(from) + " to " + string(t.To)
}

func targets(from mission.Lane, legal []string) string {
	if len(legal) == 0 {
		return string(from) + " is final"
	}
	return "from " + string(from) + " it may go to " + strings.Join(legal, ", ")
}

// mayTake keeps a move from taking a package from somebody: what is handed out
// moves with its token or with force, and what somebody keeps without its being
// handed out by them, or where they keep it.
func (t Move) mayTake(s State) error {
	p := s.Packages[t.Package]
	switch issue := p.Issue; {
	case issue == nil && t.Token != "":
		return refuse(StaleToken, "token %s is not open: package %s is not handed out", t.Token, t.Package)
	case issue != nil && t.Token != "" && t.Token != issue.Token:
		return refuse(StaleToken, "token %s is not the one that package %s was handed out with", t.Token, t.Package)
	case t.Force || t.Token != "":
		return nil
	case issue != nil && issue.Holder == t.By:
		return refuse(TokenRequired, "package %s is handed out to you: report on it, or move it with --token %s", t.Package, issue.Token)
	case issue != nil:
		return packageHeld(t.Package, issue.Holder, issue.Since)
	}
	if after, _ := t.hands(s); !p.Holder.IsZero() && after != p.Holder && !p.Holder.covers(t.By) {
		return packageHeld(t.Package, p.Holder, p.Since)
	}
	return nil
}

// hands are who holds the package after the move, and who did the work that it
// hands in; nobody: the author stays.
func (t Move) hands(s State) (holder, author Holder) {
	p := s.Packages[t.Package]
	from, before := laneOf(p), p.Holder
	if p.Issue != nil {
		before = p.Issue.Holder
	}
	mover := t.By
	if mover.IsZero() && t.Token != "" {
		mover = before
	}
	switch t.To {
	case mission.Claimed, mission.InProgress:
		if mover.IsZero() && keeps(from) {
			mover = before
		}
		return mover, Holder{}
	case mission.Blocked:
		return before, Holder{}
	case mission.InReview:
		holder = mover
		mover = Holder{} // the reviewer did not do the work
	case mission.Planned, mission.Canceled:
		return Holder{}, Holder{}
	}
	switch {
	case !working(from):
		return holder, Holder{}
	case before.IsZero() || t.Token != "" && !mover.IsZero():
		return holder, mover
	}
	return holder, before
}

// working tells whether work is done in a lane, not judged.
func working(lane mission.Lane) bool { return lane == mission.Claimed || lane == mission.InProgress }

// keeps tells whether a package that goes on from a lane is still whose it was:
// a reviewer does not become the worker.
func keeps(from mission.Lane) bool { return working(from) || from == mission.Blocked }

// judgesOwn tells whether an author would approve own work, or take it for
// review, where the definition does not allow it.
func (t Move) judgesOwn(s State, f Facts, holder Holder) (bool, error) {
	p, from := s.Packages[t.Package], s.lane(f, t.Package)
	approves := t.To.Satisfies() && !from.Satisfies()
	if !approves && (t.To != mission.InReview || holder.IsZero()) {
		return false, nil
	}
	allowed, straight, err := judging(f.Def, from)
	if err != nil || allowed {
		return false, err
	}
	worker := p.Author
	if now := s.HolderOf(f, t.Package); working(from) && (!straight || !approves) && !now.IsZero() {
		worker = now
	}
	return !worker.IsZero() && worker.Agent == t.name(s, holder), nil
}

// name is who moves, as authors are named.
func (t Move) name(s State, holder Holder) string {
	issue := s.Packages[t.Package].Issue
	switch {
	case t.By.Agent != "":
		return t.By.Agent
	case t.Token != "" && issue != nil:
		return issue.Holder.Agent
	case holder.Agent != "":
		return holder.Agent
	}
	return t.Who
}

// judging tells whether the definition lets authors judge their own work: by
// self_review, or since no step approves packages; and whether one approves
// straight out of this lane of work, without a review in between.
func judging(def mission.View, from mission.Lane) (allowed, straight bool, err error) {
	allowed = true
	for pos := range def.Len() {
		step, err := def.Step(pos)
		if err != nil {
			return false, false, err
		}
		rule := step.Packages
		if rule == nil || !rule.Success.Satisfies() {
			continue
		}
		if rule.SelfReview {
			return true, false, nil
		}
		allowed = false
		straight = straight || working(from) && rule.Claim == from
	}
	return allowed, straight, nil
}

// move emits what the move does: the issue ends, a stop is over, the package
// goes, and in lane blocked it waits for a retry.
func (t Move) move(d *draft, holder, author Holder) error {
	p, from := d.s.Packages[t.Package], d.s.lane(d.f, t.Package)
	if p.Issue != nil {
		d.emit(Released{Token: p.Issue.Token, Reason: t.reason()})
	}
	if p.Stop != NoStop && t.To != mission.Blocked {
		d.emit(Retried{Step: p.StopAt, Package: t.Package, Attempt: p.Attempts[p.StopAt] + 1, Reason: t.reason()})
	}
	d.emit(Moved{
		Package: t.Package, From: from, To: t.To, Holder: holder, Author: author, Reason: t.Reason,
		Force: t.Force,
	})
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

func laneOf(p Package) mission.Lane {
	if p.Lane == "" {
		return mission.Planned
	}
	return p.Lane
}
