package commit

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Commit implements Store. The lock is taken exactly once, and once more where the
// commit opens a finished run again.
func (s *run[S, F, E]) Commit(ctx context.Context, t Transition[S, F, E]) (out Outcome[S, E], err error) {
	if err := s.straight(); err != nil {
		return out, err
	}
	if err := s.claim(); err != nil {
		return out, err
	}
	mended, err := s.mendIndex(ctx)
	if err != nil {
		return out, err
	}
	out, err = s.attempt(ctx, t, nil)
	if errors.Is(err, errOpensAgain) {
		before := out.Warnings
		var unlock []Warning
		unlock, err = s.locked(ctx, s.succession, func(held *locks.Held) (err error) {
			out, err = s.attempt(ctx, t, held)
			return err
		})
		out.Warnings = slices.Concat(before, out.Warnings, unlock)
	}
	out.Warnings = append(out.Warnings, mended...)
	return out, err
}

// attempt takes the run's lock, and the outer one before it where there is one.
// succession is the run's succession lock, nil where it is not held.
func (s *run[S, F, E]) attempt(ctx context.Context, t Transition[S, F, E], succession *locks.Held) (out Outcome[S, E], err error) {
	var (
		warnings []Warning
		result   error
		called   bool
	)
	commit := func(ctx context.Context) error {
		called = true
		warnings, result = s.locked(ctx, s.lock, func(held *locks.Held) (err error) {
			out, err = s.underLock(ctx, held, succession, t)
			return err
		})
		return result
	}
	if outer, ok := s.outside.(OuterLock[S, F, E]); ok {
		err = outer.Around(ctx, s.id, t, commit)
	} else {
		err = commit(ctx)
	}
	s.opts.Hook(PointReleased)
	switch {
	case !called && err == nil:
		return out, errors.New("the outer lock was taken and nothing done under it")
	case !called:
		return out, lockError(err)
	}
	out.Warnings = slices.Concat(out.Warnings, warnings, unlockWarning(err))
	return out, result
}

func (s *run[S, F, E]) underLock(ctx context.Context, held, succession *locks.Held, t Transition[S, F, E]) (out Outcome[S, E], err error) {
	s.opts.Hook(PointLockAcquired)
	defer s.opts.Hook(PointBeforeRelease)
	j, err := s.openJournal(os.O_RDWR)
	if err != nil {
		return out, err
	}
	defer j.Close() // nothing is written in a close that a sync did not cover
	v, warnings := s.readView()
	l, err := s.load(j, v, warnings, true)
	out.Snapshot = s.snapshot(l)
	if err != nil {
		return out, err
	}
	if !l.clean {
		warnings, err := s.repair(j, held, l)
		out.Warnings = append(out.Warnings, warnings...)
		if err != nil {
			return out, err
		}
	}
	if settler, ok := t.(Settler); !ok || !settler.Settles() {
		l, warnings, err = s.publishLeft(ctx, held, j, l, t.Actor())
		out.Warnings = append(out.Warnings, warnings...)
		if err != nil {
			return out, err
		}
	}
	out.State, out.Revision, out.Digest = l.state, l.pos.Revision, l.pos.Digest
	return s.decide(ctx, held, succession, j, l, t, out)
}

// decide runs the transition on what was read under the lock. Every answer, a
// refusal too, is given only while the lock still is the run's.
func (s *run[S, F, E]) decide(ctx context.Context, held, succession *locks.Held, j durable.File, l loaded[S], t Transition[S, F, E], out Outcome[S, E]) (Outcome[S, E], error) {
	facts, err := s.facts(ctx, l.state, t)
	if err != nil {
		return out, err
	}
	now := s.opts.Now().UTC().Round(0)
	events, err := t.Decide(l.state, facts, now)
	if gone := s.same(held); gone != nil {
		return out, gone
	}
	if err != nil || len(events) == 0 {
		return out, err
	}
	n, err := s.next(l, t.Kind(), t.Actor(), events, now)
	if err != nil {
		return out, err
	}
	if s.machine.Finished(l.state) && !s.machine.Finished(n.state) {
		if err := s.mayOpenAgain(l.subject, succession); err != nil {
			return out, err
		}
	}
	// The last moment to give up: what is appended outside has its record.
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if a, ok := s.outside.(Appender[S, F, E]); ok {
		if err := a.Append(ctx, l.state, t, events); err != nil {
			return out, err
		}
	}
	if err := s.record(held, j, n.line, l.pos); err != nil {
		return out, err
	}
	out.recorded(n, events)
	s.opts.Hook(PointBeforePublish)
	out.Warnings = append(out.Warnings, s.publishView(n.view)...)
	s.opts.Hook(PointAfterPublish)
	return s.publishNew(ctx, held, j, n, out), nil
}
