package runner

import (
	"cmp"
	"context"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// OperatorRequest is what the operator verbs have in common.
type OperatorRequest struct {
	Mission  string // its latest run; of Abort also the id of a run
	Caller   Caller // with an agent, what comes next is handed to it
	Actor    string // who does it, for the record; "": the caller
	Package  string
	Token    string // of the work, or of the asking
	Decision string // of Postpone and Withdraw; "": the only open one
	Step     string
	Reason   string
	To       string // the lane that WPMove moves to
	Force    bool   // of WPMove
	Discard  bool   // of Publish
}

func (q OperatorRequest) who() string {
	if q.Actor != "" {
		return q.Actor
	}
	return q.Caller.String()
}

func (q OperatorRequest) check() error {
	return cmp.Or(q.Caller.check(), checkText("the reason", q.Reason), checkToken("the token", q.Token),
		checkID("work package", q.Package), checkID("step", q.Step), checkDecision(q.Decision))
}

// Retry hands out again what failed, is blocked or was rejected.
func (p *Project) Retry(ctx context.Context, q OperatorRequest) (Answer, error) {
	return p.operate(ctx, q, cursor.Retry{
		Who: q.who(), By: q.Caller.Holder(), Package: q.Package, Reason: q.Reason, Tokens: p.tokens(),
	})
}

// Skip completes a step without its work.
func (p *Project) Skip(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := checkReason("skipping a step", q.Reason); err != nil {
		return Answer{}, err
	}
	return p.operate(ctx, q, cursor.Skip{
		Who: q.who(), Step: q.Step, Reason: q.Reason, By: q.Caller.Holder(), Tokens: p.tokens(),
	})
}

// Release takes work from a holder who does not come back.
func (p *Project) Release(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := checkReason("taking work from its holder", q.Reason); err != nil {
		return Answer{}, err
	}
	q.Caller = Caller{}
	return p.operate(ctx, q, cursor.Release{Who: q.who(), Token: q.Token, Package: q.Package, Reason: q.Reason})
}

// Abort ends a run before its end: a mission's latest, or that of an id.
func (p *Project) Abort(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := checkReason("aborting a run", q.Reason); err != nil {
		return Answer{}, err
	}
	q.Caller = Caller{}
	return p.operateOn(ctx, q, cursor.Abort{Who: q.who(), Reason: q.Reason}, p.readNamed)
}

// operate commits an operator's transition and answers with the work that was
// handed to the named agent, else with how things stand.
func (p *Project) operate(ctx context.Context, q OperatorRequest, t transition) (Answer, error) {
	return p.operateOn(ctx, q, t, p.read)
}

// operateOn is operate on the run that read finds.
func (p *Project) operateOn(ctx context.Context, q OperatorRequest, t transition, read reader) (Answer, error) {
	r, a, err := p.steer(ctx, q, t, read)
	if r == nil || err != nil {
		return a, classify(err)
	}
	a, err = r.operated(ctx, q)
	return a, classify(err)
}

// reader reads the run that a name means.
type reader func(ctx context.Context, name string) (*reading, error)

// steer commits an operator's transition on the run that read finds. Without a
// reading the answer is a refusal.
func (p *Project) steer(ctx context.Context, q OperatorRequest, t transition, read reader) (*reading, Answer, error) {
	if err := q.check(); err != nil {
		return nil, Answer{}, err
	}
	r, err := read(ctx, q.Mission)
	if err != nil {
		return nil, Answer{}, err
	}
	if r.run == nil {
		return nil, Answer{}, commit.ErrNoRun
	}
	if err := r.commit(ctx, t); err != nil {
		a, err := r.refused(q.Caller, err)
		return nil, a, err
	}
	r.writePrompts()
	return r, Answer{}, nil
}

func (r *reading) operated(ctx context.Context, q OperatorRequest) (Answer, error) {
	by := q.Caller.Holder()
	if !by.IsZero() && len(r.state.Held(by)) > 0 {
		return r.settle(ctx, q.Caller, step{})
	}
	return r.standing(q.Caller)
}

// standing is how things stand after an operator's change. What others hold is
// theirs to report: their tokens are not shown.
func (r *reading) standing(c Caller) (Answer, error) {
	a, err := r.query(c)
	if a.Holder != nil && (cursor.Holder{Agent: a.Holder.Agent, Worker: a.Holder.Worker}) != c.Holder() {
		a.Token, a.Report = nil, nil
	}
	return a, err
}
