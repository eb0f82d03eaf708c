package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// planFormat is the version of saved plans.
const planFormat = 1

// savedPlan is a report, or an ask for work, that was evaluated and not
// committed. Whoever applies it commits under the same rules as a report: what
// it relied on is compared under the lock, and executor and guards are evaluated
// again, so that editing the file gains nothing.
type savedPlan struct {
	Format  int            `json:"format"`
	ID      string         `json:"id"`
	Mission string         `json:"mission"`
	AsOf    time.Time      `json:"as_of"` // the only clock that plugins saw
	Caller  Caller         `json:"caller"`
	Issue   cursor.Issue   `json:"issue"` // for who reads the file; what is applied is looked up anew
	Report  *cursor.Report `json:"report,omitempty"`
	Ask     *cursor.Ask    `json:"ask,omitempty"`
}

// savePlan hands the plan out instead of committing it, with the answer that
// committing would give.
func (r *reading) savePlan(q Request, t step) (Answer, error) {
	saved := savedPlan{Format: planFormat, ID: r.p.newULID().String(), Mission: r.mission.Slug, AsOf: r.clock(), Caller: q.Caller, Issue: t.issue}
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
		return Answer{}, err
	}
	after := *r
	after.state, after.facts, after.planned = made.state, made.facts, true
	return after.reply(q.Caller)
}

// Apply commits a saved plan, under the same rules as a report.
func (p *Project) Apply(ctx context.Context, raw []byte) (Answer, error) {
	saved, err := readPlan(raw)
	if err != nil {
		return Answer{}, err
	}
	if err := saved.check(); err != nil {
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

// IsPlan tells whether a file's bytes are a saved plan that Apply would read.
func IsPlan(raw []byte) bool {
	_, err := readPlan(raw)
	return err == nil
}

func readPlan(raw []byte) (savedPlan, error) {
	var saved savedPlan
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&saved)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something stands behind its end")
		}
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

// check is what a report's own check asks of its caller and its words.
func (s savedPlan) check() error {
	if s.Report == nil {
		return s.Caller.check()
	}
	return cmp.Or(s.Caller.check(), checkText("the reason", s.Report.Reason))
}

// apply evaluates the report anew, on the files as they are now. Who reports,
// and on what, is taken from the caller that the file names, and holds under the
// lock like any report. The tokens of what comes next are made here, and what guards
// and calls are on record for: those of the file could be any.
func (r *reading) apply(ctx context.Context, saved savedPlan) (Answer, error) {
	if err := r.finish(ctx, saved.Caller); err != nil {
		return r.refused(saved.Caller, err)
	}
	t := step{report: saved.Report, ask: saved.Ask, issue: saved.Issue}
	if t.ask != nil {
		t.ask.By, t.ask.Who, t.ask.Tokens = saved.Caller.Holder(), saved.Caller.String(), r.p.tokens()
		return r.applied(ctx, saved.Caller, t)
	}
	t.report.By, t.report.Who, t.report.Plan = saved.Caller.Holder(), saved.Caller.String(), saved.ID
	t.report.Tokens, t.report.Guards, t.report.Calls = r.p.tokens(), nil, nil
	t.report.Policy = cursor.Policy{AnyHolder: r.anyHolder()}
	r.asOf = saved.AsOf
	if err := r.reevaluate(ctx, &t); err != nil {
		return r.refused(saved.Caller, err)
	}
	return r.applied(ctx, saved.Caller, t)
}

// reevaluate runs executor and guards of a saved success again: whoever can edit
// the file gains nothing. An executor has no effects and answers the same to the
// same request on the same files, so another answer means that the plan is
// stale, or was edited. What would be refused anyway, or was committed before,
// needs no evaluation.
func (r *reading) reevaluate(ctx context.Context, t *step) error {
	made, err := r.foretell(*t.report)
	if err != nil || len(made.events) == 0 {
		return err
	}
	t.issue = r.stepItself(t.report.By)
	if open := t.report.Base.Issue; open != "" {
		t.issue, _ = r.state.Issue(open)
	}
	saved := t.report.Outcome
	t.report.Outcome = nil
	if t.report.Result != cursor.Success {
		return nil
	}
	if err := r.evaluate(ctx, t); err != nil {
		return err
	}
	sameGround(saved, t.report.Outcome)
	if !reflect.DeepEqual(saved, t.report.Outcome) {
		return &cursor.Refusal{Code: cursor.StalePlan, Message: "the executor of step " + t.issue.Step + " does not answer any more what the plan says: make the plan again"}
	}
	return nil
}

// sameGround lets the saved artifacts say what they replace: whether that still
// stands there is compared under the lock, and is a conflict of its own.
func sameGround(saved, now *cursor.Outcome) {
	if saved == nil || now == nil || len(saved.Artifacts) != len(now.Artifacts) {
		return
	}
	for i, a := range saved.Artifacts {
		if a.Path == now.Artifacts[i].Path {
			now.Artifacts[i].Replaces = a.Replaces
		}
	}
}

func (r *reading) applied(ctx context.Context, c Caller, t step) (Answer, error) {
	r.p.hook(PointDispatched)
	if err := r.commitStep(ctx, t); err != nil {
		return r.refused(c, err)
	}
	return r.settle(ctx, c, t)
}
