package runner

import (
	"context"
	"errors"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/locks"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Query tells how a mission stands, for a caller or for nobody. It takes no
// lock, runs nothing foreign and leaves no trace.
func (p *Project) Query(ctx context.Context, handle string, caller Caller) (Answer, error) {
	if err := caller.check(); err != nil {
		return Answer{}, err
	}
	r, err := p.read(ctx, handle)
	if err != nil {
		return Answer{}, classify(err)
	}
	a, err := r.query(caller)
	return a, classify(err)
}

// Next reports, asks for work or answers a question, and gives what comes next.
// A refusal is an Answer of kind blocked; an error is a call that has no
// answer, of type *Error or the context's own. When it returns without error
// and the answer says recorded, what it recorded is durable.
func (p *Project) Next(ctx context.Context, q Request) (Answer, error) {
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	r, err := p.read(ctx, q.Mission)
	if err != nil {
		return Answer{}, classify(err)
	}
	p.hook(PointRead)
	a, err := r.next(ctx, q)
	if err == nil && a.ReasonCode != nil && *a.ReasonCode == string(cursor.StaleToken) && q.Token != "" && r.run != nil {
		a.Warnings = append(a.Warnings, r.hidden(ctx, q.Token)...)
	}
	return a, classify(err)
}

func (r *reading) next(ctx context.Context, q Request) (Answer, error) {
	if r.run == nil {
		return r.begin(ctx, q)
	}
	if q.PlanOut == nil {
		if err := r.finish(ctx, q.Caller); err != nil {
			return r.refused(q.Caller, err)
		}
	}
	if q.Answer != nil {
		if _, err := r.transition(q); q.Result != "" && q.Result != cursor.Success && err != nil {
			return r.refused(q.Caller, err) // before the answer is recorded
		}
		a, done, err := r.give(ctx, q)
		if done || err != nil {
			return a, err
		}
	}
	return r.report(ctx, q)
}

// begin is any result on a mission without a run: it starts one and hands out
// the first step.
func (r *reading) begin(ctx context.Context, q Request) (Answer, error) {
	if q.Answer != nil {
		return Answer{}, fail(CodeRunNotFound, "start it: `spec-kitty run start "+r.mission.Slug+"`", "mission %s has no run, so it has no question", r.mission.Slug)
	}
	if q.Token != "" {
		return r.blocked(q.Caller, &cursor.Refusal{Code: cursor.StaleToken, Message: "mission " + r.mission.Slug + " has no run, so no token of it is open"})
	}
	if q.PlanOut != nil {
		return Answer{}, fail(CodeRunNotFound, "start it: `spec-kitty run start "+r.mission.Slug+"`", "mission %s has no run to plan on", r.mission.Slug)
	}
	r.warnUnreported(q)
	a, err := r.start(ctx, StartRequest{Slug: r.mission.Slug, Caller: q.Caller})
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeRunExists {
		return a, err
	}
	// Somebody else was first. The call asked for work on a mission without a
	// run, so it asks for work now, and reports nothing.
	now, err := r.p.read(ctx, q.Mission)
	if err != nil {
		return Answer{}, err
	}
	if now.run == nil {
		return Answer{}, known
	}
	now.warnUnreported(q)
	return now.take(ctx, q.Caller, now.askFor(q.Caller))
}

// warnUnreported says that a failure was taken as a request for work: no run was
// there that it could be of.
func (r *reading) warnUnreported(q Request) {
	if q.Result == cursor.Success {
		return
	}
	said := ""
	if q.Reason != "" {
		said = ": " + q.Reason
	}
	r.warn("nothing_reported", "the mission had no run, so nothing was handed out that could be "+string(q.Result)+"; this call began its run, and what it reported was not recorded"+said)
}

// give commits an answer. done: the call asked for nothing more.
func (r *reading) give(ctx context.Context, q Request) (a Answer, done bool, err error) {
	if err := r.commitAnswer(ctx, q); err != nil {
		a, err := r.refused(q.Caller, err)
		return a, true, err
	}
	if q.Result != "" {
		r.recorded, r.replayed = false, false // what follows is about the report
		return Answer{}, false, nil
	}
	r.recorded = true // the answer is, now or from before
	a, err = r.reply(q.Caller)
	return a, true, err
}

func (r *reading) commitAnswer(ctx context.Context, q Request) error {
	give := cursor.Give{
		Who: q.Caller.String(), Human: q.Caller.Human, Agent: q.Caller.Agent, Decision: q.Decision, Token: q.DecisionToken,
		Value: *q.Answer, Reason: q.Reason, Replace: q.Replace, Tokens: r.p.tokens(),
	}
	if give.Decision == "" && len(r.state.Cursor.Questions) == 1 {
		give.Decision = r.state.Cursor.Questions[0].ID
	}
	if err := r.commit(ctx, give); err != nil {
		return err
	}
	r.answered = &give
	r.writePrompts() // of what it handed out anew, or of what waited for this answer
	if !r.recorded {
		r.replayed = true
		r.warn("already_answered", give.Decision+" was answered with this value before; nothing was changed")
	}
	return nil
}

// report evaluates, plans and commits. The answer given in the same call goes
// on as an ask: work handed out before it is completed only by its token.
func (r *reading) report(ctx context.Context, q Request) (Answer, error) {
	t, err := r.transition(q)
	if err != nil {
		return r.refused(q.Caller, err)
	}
	if r.closed(t) {
		return r.asks(q.Caller)
	}
	if q.PlanOut == nil {
		return r.take(ctx, q.Caller, t)
	}
	if err := r.prepare(ctx, q.Caller, &t); err != nil {
		return r.refused(q.Caller, err)
	}
	return r.savePlan(q, t)
}

// closed tells whether a question keeps the step in hand from being completed:
// a migration may have opened one after the work was handed out.
func (r *reading) closed(t step) bool {
	open := r.state.Cursor.Issue
	return t.report != nil && t.report.Result == cursor.Success && open != nil && t.issue.Token == open.Token &&
		len(r.state.Cursor.Questions) > 0
}

// take prepares a transition, commits it and answers.
func (r *reading) take(ctx context.Context, c Caller, t step) (Answer, error) {
	if err := r.prepare(ctx, c, &t); err != nil {
		return r.refused(c, err)
	}
	if err := r.commitStep(ctx, t); err != nil {
		return r.refused(c, err)
	}
	return r.settle(ctx, c, t)
}

// commitStep commits a transition, and after it what its calls were asked.
func (r *reading) commitStep(ctx context.Context, t step) error {
	before := r.state.Revision
	err := r.commit(ctx, t.value())
	if err == nil && r.state.Revision > before && !r.replayed {
		r.publishCalls(t)
	}
	return err
}

// step is one transition in the making: a report, an ask or a claim, with what the
// evaluation of a report gave.
type step struct {
	report *cursor.Report
	ask    *cursor.Ask
	claim  *cursor.Claim
	issue  cursor.Issue // what is reported; its Step is the evaluated one
	guards []Guard
	views  map[string][]byte // what calls were asked and saw, by digest

	round   int                 // the call of the executor that is made, from 1; 0: none
	results []abi.CommandResult // of the commands that the round before needed
}

func (t step) value() transition {
	switch {
	case t.report != nil:
		return *t.report
	case t.claim != nil:
		return *t.claim
	}
	return *t.ask
}

// transition decides, on the state as it was read, whether the call is a
// report, and on what, or asks for work.
func (r *reading) transition(q Request) (step, error) {
	by := q.Caller.Holder()
	if q.Answer != nil && q.Token == "" && q.Result == cursor.Success {
		return r.askFor(q.Caller), nil
	}
	if q.Token != "" {
		issue, open := r.state.Issue(q.Token)
		if !open {
			issue = cursor.Issue{Token: q.Token}
		}
		return r.reportOn(q, issue, open), nil
	}
	held := r.state.Held(by)
	switch {
	case len(held) > 0 && (len(held) > 1 || r.p.Config.Runtime.RequireToken):
		return step{}, tokenRequired(held)
	case len(held) == 1:
		return r.reportOn(q, held[0], true), nil
	case r.anyHolder() && r.state.Cursor.Issue != nil:
		return r.reportOn(q, *r.state.Cursor.Issue, true), nil
	}
	here, err := cursor.At(r.state, r.facts, by)
	switch {
	case err != nil:
		return step{}, err
	case q.Result != cursor.Success && here.Why != nil && here.Why.Code == cursor.NotHolder:
		return step{}, here.Why
	case q.Result != cursor.Success:
		return step{}, nothingToReport(q)
	case here.Standing == cursor.AtClose:
		return r.reportOn(q, r.stepItself(by), true), nil
	}
	return r.askFor(q.Caller), nil
}

// stepItself is what is reported where all packages of the step are done with: the
// step as a whole, which nobody was handed.
func (r *reading) stepItself(by cursor.Holder) cursor.Issue {
	at := r.state.Cursor
	return cursor.Issue{Pos: at.Pos, Step: at.Step, Attempt: at.Attempt, Holder: by}
}

func nothingToReport(q Request) error {
	return &cursor.Refusal{Code: cursor.NothingIssued, Message: "nothing is handed out to " + q.Caller.String() + " that could be reported as " + string(q.Result)}
}

func (r *reading) anyHolder() bool { return r.p.Config.Runtime.Holder == "any" }

func tokenRequired(held []cursor.Issue) *cursor.Refusal {
	why := "the project wants reports with their token"
	if len(held) > 1 {
		why = "several pieces of work are handed out to you"
	}
	refusal := &cursor.Refusal{Code: cursor.TokenRequired, Message: why + ": name one with --token"}
	for _, i := range held {
		refusal.Options = append(refusal.Options, i.Token)
	}
	return refusal
}

func (r *reading) askFor(c Caller) step {
	return step{ask: &cursor.Ask{Who: c.String(), By: c.Holder(), Tokens: r.p.tokens()}}
}

func (r *reading) reportOn(q Request, issue cursor.Issue, open bool) step {
	base := cursor.BaseOf(r.state, r.facts, issue, open)
	return step{issue: issue, report: &cursor.Report{
		Who: q.Caller.String(), By: q.Caller.Holder(), Token: q.Token, Base: base,
		Result: q.Result, Reason: q.Reason, Tokens: r.p.tokens(),
		Policy: cursor.Policy{AnyHolder: r.anyHolder()},
	}}
}

// prepare does everything that comes before the commit, with no lock held:
// refuse what cannot be accepted anyway, run the executor, evaluate the guards,
// plan, render the prompt of what would come next.
func (r *reading) prepare(ctx context.Context, c Caller, t *step) error {
	plan, err := r.foretell(t.value())
	if err != nil {
		return err
	}
	if t.report != nil && len(plan.events) > 0 && t.report.Result == cursor.Success {
		if err := r.evaluate(ctx, t); err != nil {
			return err
		}
		if plan, err = r.foretell(t.value()); err != nil {
			return err
		}
	}
	r.p.hook(PointDispatched)
	err = r.renderNext(plan, c.Holder())
	r.p.hook(PointPlanned)
	return err
}

// plan is what a transition would do to the state as it was read.
type plan struct {
	events []cursor.Event
	state  cursor.State
	facts  cursor.Facts // with the moves made
}

// foretell decides on the state as it was read. What the plan relied on outside
// of the run is taken as unchanged; the commit reads it again.
func (r *reading) foretell(t transition) (plan, error) {
	f := r.facts
	if report, ok := t.(cursor.Report); ok {
		f.Digests = assumed(report)
	}
	now := r.p.now()
	events, err := t.Decide(r.state, f, now)
	if err != nil {
		return plan{}, err
	}
	made := plan{events: events, state: r.state, facts: r.facts}
	meta := cursor.Meta{Revision: r.state.Revision + 1, At: now, Actor: t.Actor(), Kind: t.Kind()}
	for _, e := range events {
		made.state = cursor.Evolve(made.state, meta, e)
		if m, ok := e.(cursor.Moved); ok {
			made.facts = made.facts.After(m, meta)
		}
	}
	return made, nil
}

// settle answers after a commit. Where it handed out a step that runs by
// itself, that step is the next round of the same call. Each round completes a step or
// uses one of its attempts, so there are no more of them than that.
func (r *reading) settle(ctx context.Context, c Caller, t step) (Answer, error) {
	for range r.facts.Def.Len() * (1 + mission.MaxRetry) {
		next, ok, err := r.auto(c)
		if err != nil {
			return Answer{}, err
		}
		if !ok {
			break
		}
		t = next
		if err := r.prepare(ctx, c, &t); err != nil {
			return r.refused(c, err)
		}
		if err := r.commitStep(ctx, t); err != nil {
			return r.refused(c, err)
		}
	}
	r.noteFailure(t)
	return r.reply(c)
}

// auto is the report of a step that its executor does alone.
func (r *reading) auto(c Caller) (step, bool, error) {
	issue := r.state.Cursor.Issue
	if r.state.Phase != cursor.Running || issue == nil || issue.Holder != c.Holder() || len(r.state.Cursor.Questions) > 0 {
		return step{}, false, nil
	}
	def, err := r.facts.Def.Step(issue.Pos)
	if err != nil || def.Executor == nil || !def.Executor.Auto {
		return step{}, false, err
	}
	q := Request{Caller: c, Token: issue.Token, Result: cursor.Success}
	return r.reportOn(q, *issue, true), true, nil
}

// noteFailure warns of an attempt that failed and goes on with another one.
func (r *reading) noteFailure(t step) {
	if t.report == nil || t.report.Result == cursor.Success && (t.report.Outcome == nil || t.report.Outcome.Result != cursor.Failed) {
		return
	}
	held := r.state.Held(t.report.By)
	if len(held) > 0 && held[0].Attempt > t.issue.Attempt && held[0].Step == t.issue.Step && held[0].Package == t.issue.Package {
		r.warn(string(cursor.StepFailed), "attempt "+itoa(t.issue.Attempt)+" failed; this is attempt "+itoa(held[0].Attempt))
	}
}

// refused turns what kept a call from its commit into an answer, where it is a
// block, or passes it on.
func (r *reading) refused(c Caller, err error) (Answer, error) {
	var refusal *cursor.Refusal
	var timeout *commit.LockTimeoutError
	var uncertain *commit.UncertainError
	if busy := new(locks.TimeoutError); errors.As(err, &busy) { // of another mission that puts its artifacts into their places
		err = &commit.LockTimeoutError{Path: busy.Path, Wait: busy.Wait}
	}
	if left := new(commit.UnpublishedError); errors.As(err, &left) && !errors.As(err, &uncertain) {
		err = r.unpublished(left)
	}
	switch {
	case errors.As(err, &refusal) && isBlock(refusal.Code):
		return r.blocked(c, refusal)
	case errors.As(err, &timeout):
		return r.blocked(c, &cursor.Refusal{Code: LockTimeout, Message: timeout.Error()})
	case errors.As(err, &uncertain):
		return r.blocked(c, &cursor.Refusal{Code: CommitUncertain, Message: uncertain.Error()})
	}
	return Answer{}, err
}
