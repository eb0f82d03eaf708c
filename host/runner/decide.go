package runner

import (
	"context"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// Decide answers a question, or with Replace puts an answer in the place of the
// one given before. It reports nothing. The answer is the work that the caller
// holds, else how things stand; what was answered is durable then.
func (p *Project) Decide(ctx context.Context, q Request) (Answer, error) {
	if err := checkReason("replacing an answer", q.Reason); q.Replace && err != nil {
		return Answer{}, err
	}
	if q.Replace && q.Decision == "" {
		return Answer{}, fail(CodeUsage, "name the decision", "replacing an answer names the decision")
	}
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	r, err := p.read(ctx, q.Mission)
	if err != nil {
		return Answer{}, classify(err)
	}
	if r.run == nil {
		return Answer{}, classify(commit.ErrNoRun)
	}
	p.hook(PointRead)
	if err := r.commitAnswer(ctx, q); err != nil {
		a, err := r.refused(q.Caller, err)
		return a, classify(err)
	}
	r.recorded = true // the answer is, now or from before
	a, err := r.operated(ctx, OperatorRequest{Caller: q.Caller})
	return a, classify(err)
}

// Postpone puts an open question off. It stays open and keeps its step closed.
func (p *Project) Postpone(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := checkReason("putting a question off", q.Reason); err != nil {
		return Answer{}, err
	}
	return p.steered(ctx, q.byNobody(), cursor.Postpone{Who: q.who(), Decision: q.Decision, Token: q.Token, Reason: q.Reason})
}

// Withdraw ends the asking of an executor's question, or of one about packages.
// What still needs it asks again.
func (p *Project) Withdraw(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := checkReason("withdrawing a question", q.Reason); err != nil {
		return Answer{}, err
	}
	return p.steered(ctx, q.byNobody(), cursor.Withdraw{Who: q.who(), Decision: q.Decision, Token: q.Token, Reason: q.Reason})
}

// byNobody is the request of an operator who is handed nothing.
func (q OperatorRequest) byNobody() OperatorRequest {
	q.Caller = Caller{}
	return q
}
