package cursor

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

func (r Report) packageReport(d *draft, issue Issue) error {
	step, err := d.f.Def.Step(issue.Pos)
	if err == nil {
		err = d.f.Fault
	}
	if err != nil {
		return err
	}
	if step.Packages == nil {
		return refuse(StalePlan, "step %s does not work on packages", issue.Step)
	}
	if err := d.s.laneAllows(d.f, issue, step.Packages, r.outcome()); err != nil {
		return err
	}
	switch r.outcome() {
	case Success:
		return r.packageSuccess(d, issue, step)
	case Question:
		d.emit(r.reported(issue))
		d.move(issue.Package, d.s.lane(d.f, issue.Package), r.keeper(d, issue, step), Holder{}, "")
		d.question(*r.Outcome.Question)
		return nil
	case Failed:
		return r.packageFailed(d, issue, step)
	}
	d.emit(r.reported(issue))
	d.moveBy(issue, mission.Blocked, r.keeper(d, issue, step), Holder{}, r.reason())
	d.emit(Stopped{Step: issue.Step, Package: issue.Package, Stop: Block, Reason: r.reason()})
	return d.handOut(r.By)
}

// keeper is who keeps a package that is not over: whoever reported, unless it is
// its author at a review that is somebody else's.
func (r Report) keeper(d *draft, issue Issue, step mission.Step) Holder {
	if d.s.selfReview(d.f, step, PackageFact{ID: issue.Package}, r.By) {
		return issue.Holder
	}
	return r.By
}

func (r Report) packageSuccess(d *draft, issue Issue, step mission.Step) error {
	moves := d.s.SourceOf(d.f) == Journal || onTheWay(step.Packages, d.s.lane(d.f, issue.Package))
	if moves && d.s.selfReview(d.f, step, PackageFact{ID: issue.Package}, r.By) {
		return refuse(SelfReview, "%s is the author of package %s: step %s wants somebody else to approve it",
			r.By.Agent, issue.Package, step.ID)
	}
	d.emit(r.reported(issue))
	r.setInputs(d)
	if moves { // else somebody, or this report before a crash, moved it already
		author := r.By
		if step.Packages.Success.Satisfies() && !d.s.AuthorOf(d.f, issue.Package).IsZero() {
			author = Holder{}
		}
		d.moveBy(issue, step.Packages.Success, Holder{}, author, r.Reason)
	}
	if err := d.completeIfOver(); err != nil {
		return err
	}
	return d.handOut(r.By)
}

// moveBy is the move that a report on an issue makes. In a log outside of the run
// it names the issue, so that the same report knows its own move after a crash
// that kept the record from being written, and what followed it:
//
//	log: in_progress→planned (ends T), planned→claimed→in_progress   crash
//	the report on T again: its move is there, and so is the next hand-out's
func (d *draft) moveBy(issue Issue, to mission.Lane, holder, author Holder, reason string) {
	if d.s.SourceOf(d.f) == KittySpecs {
		if d.s.endedBy(d.f, issue) {
			return
		}
		d.ends = issue.Token
	}
	d.move(issue.Package, to, holder, author, reason)
	d.ends = ""
}

// endedBy tells whether a report on the issue moved the package already.
func (s State) endedBy(f Facts, issue Issue) bool {
	fact, _ := f.find(issue.Package)
	return s.SourceOf(f) == KittySpecs && fact.Ended != "" && fact.Ended == issue.Token
}

// onTheWay tells whether a lane lies between that of work and that of success.
func onTheWay(rule *mission.PackageRule, lane mission.Lane) bool {
	path, ok := mission.Path(rule.Claim, rule.Success)
	return lane == rule.Claim || ok && len(path) > 0 && slices.Contains(path[:len(path)-1], lane)
}

// laneAllows compares a report with a lane that lives outside of the run. There
// the existing tool may have moved the package since it was handed out, or a
// crash kept this report's own move from being recorded. Where the package lies
// where its work is over, a success ends the issue and nothing else can be said
// of it; where it was taken back, a success would say what the lane denies.
func (s State) laneAllows(f Facts, issue Issue, rule *mission.PackageRule, outcome Result) error {
	lane := s.lane(f, issue.Package)
	if s.SourceOf(f) == Journal || lane == rule.Claim || outcome == Success && onTheWay(rule, lane) || s.endedBy(f, issue) {
		return nil
	}
	over := lane == rule.Success || lane.Final() || slices.Contains(rule.Until, lane)
	if over == (outcome == Success) {
		return nil
	}
	why, expected, fix := "was taken back", rule.Claim, "report failed, or release the package (spec-kitty help release) and claim it again"
	if s.PutBack(f, issue.Package) {
		why = "was moved to " + string(s.Packages[issue.Package].LoggedTo) + " by this run, and an older log was put back"
		fix = "put the newer log back, or release the package (spec-kitty help release) and claim it again"
	}
	if over {
		why, expected, fix = "is past this work", rule.Success, "report success, which moves it no further, or move the package back first"
	}
	refusal := refuse(GuardRefused, "package %s lies in lane %s by status.events.jsonl: it %s since it was handed out", issue.Package, lane, why)
	if !over {
		refusal.Release = issue.Package
	}
	refusal.Guards = []GuardFailure{{
		Guard: "work_packages", Verdict: "refuse",
		Expected: issue.Package + " in lane " + string(expected),
		Examined: issue.Package + " in lane " + string(lane),
		Fix:      fix,
	}}
	return refusal
}

// completeIfOver completes a package step for whose packages its rule holds.
// An open question keeps it open: completing it would drop the question.
func (d *draft) completeIfOver() error {
	c := d.s.Cursor
	if c.Stop != NoStop || c.Pos < 0 || len(c.Questions) > 0 {
		return nil
	}
	step, err := d.f.Def.Step(c.Pos)
	if err != nil || step.Packages == nil || !d.s.until(d.f, step.Packages) {
		return err
	}
	if strands, err := d.strands(); strands || err != nil {
		return err
	}
	return d.complete(BySuccess, "")
}

// strands tells whether completing the current step would leave a package
// handed out under a rule that is not in force at what comes next: only package
// steps have packages with somebody, and a run that is over has nothing.
func (d *draft) strands() (bool, error) {
	if !d.s.held() {
		return false, nil
	}
	pos, ok, err := mission.FirstOpen(d.f.Def, d.s.Cursor.Done.With(d.s.Cursor.Pos))
	if err != nil || !ok {
		return true, err
	}
	lenders, err := rules(d.f.Def, pos)
	return slices.ContainsFunc(d.s.Issues(), func(i Issue) bool {
		return !slices.ContainsFunc(lenders, func(o Offer) bool { return o.Step.ID == i.Step })
	}), err
}

// packageFailed is an attempt where the step takes from the lane that failing
// leads to, and a rejection where it does not.
func (r Report) packageFailed(d *draft, issue Issue, step mission.Step) error {
	rule := step.Packages
	e := r.reported(issue)
	e.Rejection = !slices.Contains(rule.Take, rule.Failed)
	d.emit(e)
	d.moveBy(issue, rule.Failed, Holder{}, Holder{}, r.reason())
	if e.Rejection {
		return d.handOut(r.By)
	}
	if d.s.Packages[issue.Package].Failures[issue.Step] > step.Retry {
		d.emit(Stopped{Step: issue.Step, Package: issue.Package, Stop: Failure, Reason: r.reason()})
		return d.handOut(r.By)
	}
	fact, ok := d.f.find(issue.Package)
	if !ok || d.s.selfReview(d.f, step, fact, r.By) {
		return d.handOut(r.By)
	}
	d.issue(Offer{Pos: issue.Pos, Step: step, Package: fact}, r.By)
	return nil
}

// stepItself completes a package step that has nothing to offer and whose rule
// holds for every package.
func (r Report) stepItself(d *draft) error {
	if r.Base.Cursor == nil {
		return refuse(StalePlan, "the plan does not say what it relied on: ask again")
	}
	if err := r.ground(d); err != nil {
		return err
	}
	c := d.s.Cursor
	if r.Result != Success || d.s.Phase != Running || c.Stop != NoStop || len(c.Questions) > 0 {
		return refuse(NothingIssued, "nothing is handed out that could be reported as %s", r.Result)
	}
	step, err := d.f.Def.Step(d.s.Cursor.Pos)
	if err != nil {
		return err
	}
	_, more, err := d.s.offer(d.f, r.By)
	if err != nil {
		return err
	}
	if step.Packages == nil || more || d.s.held() || !d.s.until(d.f, step.Packages) {
		return refuse(StalePlan, "the packages changed after this call began: ask again")
	}
	return r.closes(d, step)
}

// closes lets the executor's outcome have its say. Nobody works on the step, so
// there is no attempt to fail: what the executor does not allow is refused as a
// guard's refusal is, and reported again.
func (r Report) closes(d *draft, step mission.Step) error {
	switch r.outcome() {
	case Failed:
		return stopRefusal(Failure, "step "+step.ID, r.reason())
	case Blocked:
		return stopRefusal(Block, "step "+step.ID, r.reason())
	}
	d.emit(r.reported(Issue{Step: step.ID}))
	if r.outcome() == Question {
		d.question(*r.Outcome.Question)
		return nil
	}
	r.setInputs(d)
	if err := d.complete(BySuccess, r.Reason); err != nil {
		return err
	}
	return d.handOut(r.By)
}
