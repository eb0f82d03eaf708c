package runner

import (
	"context"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// artifactsLock is the file, in the state folder, whose lock keeps the
// publications of a project apart: missions have locks of their own and may write
// to one path.
const artifactsLock = "artifacts.lock"

// filesLock marks a context under which that lock is held; its value is the
// *locks.Held.
type filesLock struct{}

// alone holds the project's lock of artifacts around a commit that makes files,
// from the look at their places until they are in them. Without it two missions
// with one path could both find it as they want it:
//
//	a: looks, as it should be
//	                          b: looks, as it should be
//	a: record, file           b: record, file over a's
//
// With it one of them is answered artifact_conflict, and records nothing. What
// somebody who died under it left is finished first (enroll).
//
// Locks are waited for in one order: lane log, artifacts, run. Whoever holds the
// run's never waits for this one (see exclusively), so nobody waits in a circle.
func (w *world) alone(id string, t transition, commit func(context.Context) error) func(context.Context) error {
	if !makesFiles(t) {
		return commit
	}
	return func(ctx context.Context) error {
		return w.filesLock().Do(ctx, max(w.opts.LockTimeout, 0), func(held *locks.Held) error {
			ctx := context.WithValue(ctx, filesLock{}, held)
			if err := w.enroll(ctx, id, t); err != nil {
				return err
			}
			return commit(ctx)
		})
	}
}

// amongFiles tells that the artifacts' lock is held by who calls, for another run.
func amongFiles(ctx context.Context) bool { return ctx.Value(filesLock{}) != nil }

func (w *world) filesLock() *locks.Lock {
	return w.lock(filepath.Join(w.project.Config.StateRoot(), artifactsLock))
}

// makesFiles tells which commits are known beforehand to make files: a report
// with artifacts, and the finishing of what was left over.
func makesFiles(t transition) bool {
	switch t := t.(type) {
	case cursor.Report:
		return t.Outcome != nil && len(t.Outcome.Artifacts) > 0
	case cursor.Publish:
		return true
	}
	return false
}

// exclusively publishes while no other mission does. Another commit may find,
// under its run's lock, what a dead writer left over since it looked: it takes
// the lock if it is free and does not wait for it.
func (w *world) exclusively(ctx context.Context, publish func() error) error {
	if held, _ := ctx.Value(filesLock{}).(*locks.Held); held != nil {
		if err := held.Same(); err != nil {
			return err
		}
		return publish()
	}
	return w.filesLock().Do(ctx, 0, func(*locks.Held) error { return publish() })
}
