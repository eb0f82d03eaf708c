package commit_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// log is an outside log with a lock of its own.
type log struct {
	committest.Outside
	order   *[]string
	refuse  error
	after   func() // called when the events are appended
	appends []committest.Event
}

func (l *log) Around(ctx context.Context, run string, _ committest.Transition, commit func(context.Context) error) error {
	if l.refuse != nil {
		return l.refuse
	}
	*l.order = append(*l.order, "outer lock")
	defer func() { *l.order = append(*l.order, "outer unlock") }()
	return commit(context.WithValue(ctx, outerKey{}, run))
}

// outerKey marks a context with the run whose outer lock is held.
type outerKey struct{}

func (l *log) Append(ctx context.Context, _ committest.State, _ committest.Transition, events []committest.Event) error {
	*l.order = append(*l.order, "outside append")
	if held, _ := ctx.Value(outerKey{}).(string); held == "" {
		return errors.New("the outer lock's context is not handed on")
	}
	l.appends = append(l.appends, events...)
	if l.after != nil {
		l.after()
	}
	return l.Err
}

func (l *log) Facts(ctx context.Context, s committest.State, t committest.Transition) (committest.Facts, error) {
	*l.order = append(*l.order, "facts")
	return committest.Facts{Limit: 2}, nil
}

// An outer lock is taken before the run's and held over facts, outside append
// and record; a refusal appends nothing.
func TestOuterLockAndAppend(t *testing.T) {
	var order []string
	l := &log{order: &order}
	cat := commit.NewFiles(memRoot, committest.Counter{}, l, commit.Options{
		Disk: durable.NewMem(), Locks: locks.Local(), Hook: func(p string) { order = append(order, p) },
	})
	s := committest.Start(t, cat, "a", 1)
	order = nil
	committest.MustCommit(t, s, add("t1"))
	want := []string{
		"outer lock", commit.PointLockAcquired, "facts", "outside append", commit.PointBeforeAppend, commit.PointAfterAppend,
		commit.PointAfterSync, commit.PointBeforePublish, commit.PointAfterPublish, commit.PointBeforeRelease, "outer unlock", commit.PointReleased,
	}
	if !slices.Equal(order, want) {
		t.Errorf("order %q", order)
	}
	if _, err := s.Commit(t.Context(), committest.Add{Who: "me", By: 5}); err == nil || len(l.appends) != 1 {
		t.Errorf("a refusal: %v, appended %v", err, l.appends)
	}
	l.Err = errors.New("log is full")
	if out, err := s.Commit(t.Context(), add("t2")); !errors.Is(err, l.Err) || out.Committed {
		t.Errorf("an append that failed: %+v, %v", out, err)
	}
	l.refuse = errors.New("outer lock is busy")
	if out, err := s.Commit(t.Context(), add("t2")); !errors.Is(err, l.refuse) || out.Committed {
		t.Errorf("an outer lock that is not had: %+v, %v", out, err)
	}
	if snap := committest.MustRead(t, s); snap.State.Count != 1 {
		t.Errorf("state %+v", snap)
	}
}

// What is appended outside has its record, also where the caller gives up just then.
func TestCanceledAfterOutsideAppend(t *testing.T) {
	l := &log{order: new([]string)}
	cat := commit.NewFiles(memRoot, committest.Counter{}, l, commit.Options{Disk: durable.NewMem(), Locks: locks.Local()})
	s := committest.Start(t, cat, "a", 1)
	ctx, cancel := context.WithCancel(t.Context())
	l.after = cancel
	if out, err := s.Commit(ctx, add("t1")); err != nil || !out.Committed {
		t.Errorf("committed %v, %v", out.Committed, err)
	}
	if out, err := s.Commit(ctx, add("t2")); !errors.Is(err, context.Canceled) || out.Committed || len(l.appends) != 1 {
		t.Errorf("the next: committed %v, %v, appended %v", out.Committed, err, l.appends)
	}
}

// An error of the outer lock is its own, also where a file is missing there.
func TestOuterLockWithoutAFile(t *testing.T) {
	l := &log{order: new([]string), refuse: fs.ErrNotExist}
	cat := commit.NewFiles(memRoot, committest.Counter{}, l, commit.Options{Disk: durable.NewMem(), Locks: locks.Local()})
	if _, err := committest.Start(t, cat, "a", 1).Commit(t.Context(), add("t1")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, commit.ErrNoRun) {
		t.Errorf("%v", err)
	}
}
