package runner

import (
	"context"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// Publish finishes a publication of artifacts that was left over; where none is,
// nothing happens. With Discard it gives the artifacts up: what stands in their
// places stays, and the record says so. What it did is durable on return.
func (p *Project) Publish(ctx context.Context, q OperatorRequest) (Answer, error) {
	if !q.Discard && q.Reason != "" {
		return Answer{}, fail(CodeUsage, "add --discard, or leave --reason out", "a reason goes with --discard")
	}
	if err := checkReason("giving up what was recorded", q.Reason); q.Discard && err != nil {
		return Answer{}, err
	}
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	r, err := p.read(ctx, q.Mission)
	if err == nil && r.run == nil {
		err = commit.ErrNoRun
	}
	if err != nil {
		return Answer{}, classify(err)
	}
	a, err := r.publication(ctx, q)
	return a, classify(err)
}

func (r *reading) publication(ctx context.Context, q OperatorRequest) (Answer, error) {
	var t transition = cursor.Publish{Who: q.who()}
	left := r.state.Unpublished
	if q.Discard {
		discard := cursor.Discard{Who: q.who(), Reason: q.Reason}
		if left != nil {
			discard.Revision = left.Revision
		}
		t = discard
	}
	if err := r.commit(ctx, t); err != nil {
		return r.refused(q.Caller, err)
	}
	if q.Discard {
		r.p.place.Sweep(left.Paths)
	}
	return r.query(q.Caller)
}
