package commit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// publishKind is the kind of the record that says that files are made.
const publishKind = "publish"

// publishLeft finishes what a dead writer left: a record is durable, its files
// are not known to be made. The record that says so is synced here, since
// another one will follow it, and only the last may be not durable.
func (s *run[S, F, E]) publishLeft(ctx context.Context, held *locks.Held, j durable.File, l loaded[S], actor string) (loaded[S], []Warning, error) {
	p, ok := s.outside.(Publisher[S, E])
	if !ok {
		return l, nil, nil
	}
	revision := p.Pending(l.state)
	if revision == 0 {
		return l, nil, nil
	}
	rec, err := s.find(j, l.pos.End, revision)
	if err != nil {
		return l, nil, err
	}
	n, err := s.published(ctx, held, j, p, l, s.display(rec), actor)
	if err != nil {
		return l, nil, &UnpublishedError{Revision: revision, Err: err}
	}
	if err := j.Sync(); err != nil {
		return l, nil, &UncertainError{fmt.Errorf("sync %s: %w", s.journalPath(), err)}
	}
	return n.loaded(l.subject), s.publishView(n.view), nil
}

// publishNew makes the files of the record that was just committed. Whatever
// happens, the commit has succeeded: a failure is a warning and the next
// writer's work. The record that says so is not synced, and the view does not
// speak of it: the next writer finds the journal longer than the view and
// makes it durable then.
func (s *run[S, F, E]) publishNew(ctx context.Context, held *locks.Held, j durable.File, n next[S], out Outcome[S, E]) Outcome[S, E] {
	p, ok := s.outside.(Publisher[S, E])
	if !ok || p.Pending(n.state) == 0 {
		return out
	}
	done, err := s.published(context.WithoutCancel(ctx), held, j, p, n.loaded(out.Subject), s.display(n.rec), n.rec.Actor)
	if err != nil {
		out.Warnings = append(out.Warnings, Warning{WarnNotPublished, "recorded, but " + err.Error()})
		return out
	}
	out.State, out.Revision, out.Digest = done.state, done.pos.Revision, done.pos.Digest
	s.opts.Hook(PointPublished)
	return out
}

// published makes the files and appends the record that says so, unsynced.
func (s *run[S, F, E]) published(ctx context.Context, held *locks.Held, j durable.File, p Publisher[S, E], l loaded[S], rec Record[E], actor string) (next[S], error) {
	events, err := p.Publish(ctx, l.state, rec)
	if err == nil && len(events) == 0 {
		err = errors.New("the publisher recorded nothing")
	}
	if err != nil {
		return next[S]{}, err
	}
	n, err := s.next(l, publishKind, actor, events, s.opts.Now().UTC().Round(0))
	if err != nil {
		return n, err
	}
	if err := s.same(held); err != nil {
		return n, err
	}
	if err := journal.Append(j, l.pos.End, n.line); err != nil {
		return n, s.appendError(err, l.pos)
	}
	return n, nil
}

// find reads the record of a revision out of the first size bytes.
func (s *run[S, F, E]) find(j durable.File, size int64, revision uint64) (journal.Record, error) {
	r := journal.NewReader(j, size, journal.Position{Run: s.id}, 0)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rec, &DamagedError{File: s.journalPath(), Line: revision, Why: "the state names this record and it is not there"}
		}
		if err != nil || rec.Revision == revision {
			return rec, s.damage(err)
		}
	}
}
