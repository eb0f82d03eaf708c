package runner

import (
	"cmp"
	"context"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// ClaimRequest asks for a work package.
type ClaimRequest struct {
	Mission string
	Caller  Caller
	Package string // "": the next
}

// WPClaim hands a work package out: the named one, or the next, with its prompt.
// Who holds it already is given it again. A refusal is an Answer of kind
// blocked, as with Next.
func (p *Project) WPClaim(ctx context.Context, q ClaimRequest) (Answer, error) {
	if err := cmp.Or(q.Caller.check(), checkID("work package", q.Package)); err != nil {
		return Answer{}, err
	}
	if q.Caller.Holder().IsZero() {
		return Answer{}, fail(CodeUsage, "add --agent NAME, or --as human:NAME", "a claim needs somebody who makes it")
	}
	r, err := p.read(ctx, q.Mission)
	if err != nil {
		return Answer{}, classify(err)
	}
	if r.run == nil {
		return Answer{}, classify(commit.ErrNoRun)
	}
	p.hook(PointRead)
	a, err := r.claim(ctx, q)
	return a, classify(err)
}

func (r *reading) claim(ctx context.Context, q ClaimRequest) (Answer, error) {
	t := step{claim: &cursor.Claim{Who: q.Caller.String(), By: q.Caller.Holder(), Package: q.Package, Tokens: r.p.tokens()}}
	if err := r.prepare(ctx, q.Caller, &t); err != nil {
		return r.refused(q.Caller, err)
	}
	if err := r.commit(ctx, t.value()); err != nil {
		return r.refused(q.Caller, err)
	}
	for _, issue := range r.state.Held(q.Caller.Holder()) {
		if issue.Package != "" && (q.Package == "" || q.Package == issue.Package) {
			a := r.head(q.Caller)
			a.Kind = KindStep
			err := r.showIssue(&a, issue, true)
			return r.seal(a), err
		}
	}
	return r.reply(q.Caller) // a question, or the end
}

// WPMove moves a work package to another lane: along one edge, or with Force and
// a Reason anywhere. The caller is who moves it; nobody is an operator who holds
// no work. The answer is how things stand then.
func (p *Project) WPMove(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := q.namesPackage(); err != nil {
		return Answer{}, err
	}
	to, ok := mission.ParseLane(q.To)
	if !ok {
		to = mission.Lane(q.To) // refused by name
	}
	return p.steered(ctx, q, cursor.Move{
		Who: q.who(), By: q.Caller.Holder(), Package: q.Package, To: to, Token: q.Token, Force: q.Force, Reason: q.Reason,
	})
}

// WPRelease drops a work package's holder, who does not come back, and puts the
// package where it is handed out from.
func (p *Project) WPRelease(ctx context.Context, q OperatorRequest) (Answer, error) {
	if err := q.namesPackage(); err != nil {
		return Answer{}, err
	}
	if err := checkReason("taking a package from its holder", q.Reason); err != nil {
		return Answer{}, err
	}
	q.Caller = Caller{}
	return p.steered(ctx, q, cursor.ReleasePackage{Who: q.who(), Package: q.Package, Reason: q.Reason})
}

func (q OperatorRequest) namesPackage() error {
	if q.Package == "" {
		return fail(CodeUsage, "name it: WP01", "no work package is named")
	}
	return nil
}

// steered commits a transition that hands nothing out, and shows how things
// stand.
func (p *Project) steered(ctx context.Context, q OperatorRequest, t transition) (Answer, error) {
	r, a, err := p.steer(ctx, q, t, p.read)
	if r == nil || err != nil {
		return a, classify(err)
	}
	a, err = r.standing(q.Caller)
	return a, classify(err)
}
