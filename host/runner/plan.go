package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// planFormat is the version of saved plans.
const planFormat = 1

// savedPlan is a report, or an ask for work, that was evaluated and not
// committed. Whoever applies it commits under the same rules as a report: what
// it relied on is compared under the lock, and the guards are evaluated again,
// so that editing the file gains nothing.
type savedPlan struct {
	Format  int            `json:"format"`
	ID      string         `json:"id"`
	Mission string         `json:"mission"`
	Caller  Caller         `json:"caller"`
	Issue   cursor.Issue   `json:"issue"`
	Report  *cursor.Report `json:"report,omitempty"`
	Ask     *cursor.Ask    `json:"ask,omitempty"`
}

// savePlan hands the plan out instead of committing it, with the answer that
// committing would give.
func (r *reading) savePlan(q Request, t step) (Answer, error) {
	saved := savedPlan{Format: planFormat, ID: r.p.newULID().String(), Mission: r.mission.Slug, Caller: q.Caller, Issue: t.issue}
	if t.report != nil {
		t.report.Plan = saved.ID
		saved.Report = t.report
	} else {
		stamp := r.state.CursorStamp()
		t.ask.Base = &cursor.Base{Run: r.state.Run, Definition: r.state.Definition, Step: r.state.Cursor.Step, Cursor: &stamp}
		saved.Ask = t.ask
	}
	raw, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return Answer{}, err
	}
	made, err := r.foretell(t.value())
	if err != nil {
		return r.refused(q.Caller, err)
	}
	if err := q.PlanOut(append(raw, '\n')); err != nil {
		return Answer{}, fail(CodeUsage, "name a file that can be written", "the plan could not be written: %v", err)
	}
	after := *r
	after.state, after.planned = made.state, true
	return after.foresee(q.Caller)
}

// foresee is the answer to a plan: it writes nothing, so its prompt is not
// there yet.
func (r *reading) foresee(c Caller) (Answer, error) {
	here, err := cursor.At(r.state, r.facts, c.Holder())
	if err != nil {
		return Answer{}, err
	}
	a := r.head(c)
	switch here.Standing {
	case cursor.AtWork:
		a.Kind = KindStep
		err = r.showIssue(&a, *here.Issue, false)
	case cursor.AtQuestion:
		a.Kind, a.StepID = KindDecision, text(here.Step)
		r.showQuestions(&a, c)
	case cursor.AtStop:
		a.Kind = KindBlocked
		r.showBlock(&a, here.Why, c)
	case cursor.AtEnd:
		a.Kind = KindTerminal
	default:
		a.Kind, a.IsQuery = KindQuery, true
		err = r.showPreview(&a, here, c)
	}
	return r.seal(a), err
}

// Apply commits a saved plan, under the same rules as a report.
func (p *Project) Apply(ctx context.Context, raw []byte) (Answer, error) {
	saved, err := readPlan(raw)
	if err != nil {
		return Answer{}, err
	}
	if err := saved.Caller.check(); err != nil {
		return Answer{}, err
	}
	r, err := p.read(ctx, saved.Mission)
	if err != nil {
		return Answer{}, classify(err)
	}
	p.hook(PointRead)
	if r.run == nil {
		a, err := r.blocked(saved.Caller, &cursor.Refusal{Code: cursor.StalePlan, Message: "mission " + saved.Mission + " has no run any more"})
		return a, classify(err)
	}
	a, err := r.apply(ctx, saved)
	return a, classify(err)
}

func readPlan(raw []byte) (savedPlan, error) {
	var saved savedPlan
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&saved)
	if err == nil && d.More() {
		err = fmt.Errorf("more than one document")
	}
	const next = "make the plan again with --plan-out"
	switch {
	case err != nil:
		return saved, fail(CodeUsage, next, "this is no saved plan: %v", err)
	case saved.Format != planFormat:
		return saved, fail(CodeUsage, next, "the plan has format %d, this version reads %d", saved.Format, planFormat)
	case (saved.Report == nil) == (saved.Ask == nil) || saved.ID == "":
		return saved, fail(CodeUsage, next, "the plan holds no report and no request for work")
	}
	return saved, nil
}

// apply evaluates the guards anew, on the files as they are now; the executor's
// answer is the plan's. Who reports, and on what, is taken from the caller that
// the file names, and holds under the lock like any report.
func (r *reading) apply(ctx context.Context, saved savedPlan) (Answer, error) {
	t := step{report: saved.Report, ask: saved.Ask, issue: saved.Issue}
	if t.ask != nil {
		t.ask.By, t.ask.Who = saved.Caller.Holder(), saved.Caller.String()
		return r.applied(ctx, saved.Caller, t)
	}
	t.report.By, t.report.Who, t.report.Plan = saved.Caller.Holder(), saved.Caller.String(), saved.ID
	t.report.Policy = cursor.Policy{AnyHolder: r.anyHolder()}
	if issue, open := r.state.Issue(t.report.Base.Issue); open {
		t.issue = issue
		if err := r.reevaluate(ctx, &t); err != nil {
			return r.refused(saved.Caller, err)
		}
	} else if t.report.Base.Issue == "" && r.state.Cursor.Step == saved.Issue.Step {
		if err := r.reevaluate(ctx, &t); err != nil {
			return r.refused(saved.Caller, err)
		}
	}
	return r.applied(ctx, saved.Caller, t)
}

// reevaluate runs the guards of a saved success. The executor's answer stands,
// where the step has an executor; a file that claims one for a step without is
// no plan of ours.
func (r *reading) reevaluate(ctx context.Context, t *step) error {
	if t.report.Result != cursor.Success {
		t.report.Outcome = nil
		return nil
	}
	def, err := r.facts.Def.Step(t.issue.Pos)
	if err != nil {
		return err
	}
	if (def.Executor == nil) != (t.report.Outcome == nil) {
		return fail(CodeUsage, "make the plan again with --plan-out", "the plan does not fit step %s", def.ID)
	}
	if o := t.report.Outcome; o != nil && o.Result != cursor.Success {
		return nil
	}
	facts := map[string]string{}
	for name, digest := range t.report.Base.Facts {
		facts[name] = digest
	}
	t.report.Base.Facts = facts
	return r.guard(ctx, t, def)
}

func (r *reading) applied(ctx context.Context, c Caller, t step) (Answer, error) {
	r.p.hook(PointDispatched)
	if err := r.commit(ctx, t.value()); err != nil {
		return r.refused(c, err)
	}
	return r.settle(ctx, c, t)
}
