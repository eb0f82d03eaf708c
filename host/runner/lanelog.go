package runner

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanelog"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// WarnLogChanged says that a call appended to a lane log, which is the project's
// file and under version control: nothing is committed to git here.
const WarnLogChanged = "lane_log_changed"

// logLock marks a context under which the lane log's lock is held; its value is
// the *locks.Held.
type logLock struct{}

// Around implements the commit core's OuterLock: where the mission has a lane
// log, the lock of the tool that keeps it is taken before the run's and held over
// the reading of the lanes, the moves and the record. It and the lock of the
// project's artifacts are the exceptions to one lock at a time. Who holds the latter
// and finishes another run's files for it moves nothing, and takes no more of them.
func (w *world) Around(ctx context.Context, id string, t transition, commit func(context.Context) error) error {
	if amongFiles(ctx) {
		return commit(ctx)
	}
	r, commit := w.run(id), w.alone(id, t, commit)
	if r == nil || !lanelog.Kept(r.mission.Dir) {
		return commit(ctx)
	}
	path, err := lanelog.LockPath(w.project.Config.Root, r.mission.Slug)
	if err != nil {
		return err
	}
	return w.lock(path).Do(ctx, max(w.opts.LockTimeout, 0), func(held *locks.Held) error {
		w.project.hook(PointLogLocked)
		return commit(context.WithValue(ctx, logLock{}, held))
	})
}

func (w *world) lock(path string) *locks.Lock {
	if w.opts.Locks != nil {
		return w.opts.Locks(path)
	}
	return locks.At(path)
}

// Append implements the commit core's Appender: the moves go to the lane log and
// are durable there before their record is written.
//
//	log: planned→claimed→in_progress by ann, synced      crash: ann holds WP01 and
//	                                                     has no issue of it
//	record: moved, moved, issued                         whole
//
// So a crash leaves the log ahead of the run, never behind it. The next call sees
// the moves: it hands ann, and nobody else, what she holds; a report finds its own
// move by the token in it and goes on from there; a move finds its package where
// it leads and makes up for the record.
func (w *world) Append(ctx context.Context, s cursor.State, t transition, events []cursor.Event) error {
	moves, concerned := logMoves(s, events, moverOf(t))
	if !concerned {
		return nil
	}
	held, _ := ctx.Value(logLock{}).(*locks.Held)
	if held == nil || held.Same() != nil {
		return &cursor.Refusal{Code: cursor.StalePlan, Message: lanes.LogFile + " came to be, or its lock was replaced, after this call began: ask again"}
	}
	r := w.run(s.Run)
	err := lanelog.Append(w.disk(), r.mission.Dir, w.project.now(), lanelog.Batch{
		Run: s.Run, Revision: s.Revision + 1, Slug: r.mission.Slug, MissionID: r.mission.ID,
		Worktrees: w.worktrees(r.mission), Moves: moves,
	})
	w.project.hook(PointLogWritten)
	return logFault(err)
}

func (w *world) disk() durable.Disk {
	if w.opts.Disk != nil {
		return w.opts.Disk
	}
	return durable.OS()
}

// logFault gives an error of the log the commit core's classes.
func logFault(err error) error {
	var cut *lanelog.CutError
	var uncertain *lanelog.UncertainError
	switch {
	case errors.As(err, &cut):
		return &commit.AppendError{Err: cut}
	case errors.As(err, &uncertain):
		return &commit.UncertainError{Err: uncertain}
	}
	return err
}

// worktrees tells which packages are worked on in a worktree of their own.
func (w *world) worktrees(m lanes.Mission) map[string]bool {
	paths, _ := lanes.Workspaces(w.project.Config.Root, m) // a damaged lanes.json is told by who shows the paths
	all := make(map[string]bool, len(paths))
	for id := range paths {
		all[id] = true
	}
	return all
}

// moverOf is who moves, as the log names them: the agent that asks or reports,
// else whoever operates.
func moverOf(t transition) string {
	switch t := t.(type) {
	case cursor.Report:
		return t.By.Agent
	case cursor.Ask:
		return t.By.Agent
	case cursor.Claim:
		return t.By.Agent
	case cursor.Move:
		if !t.By.IsZero() {
			return t.By.Agent
		}
	}
	return t.Actor()
}

// logMoves picks the moves that go to the lane log. concerned: the record relies
// on what the log says, also where it moves nothing.
func logMoves(s cursor.State, events []cursor.Event, actor string) (moves []lanelog.Move, concerned bool) {
	for _, event := range events {
		switch e := event.(type) {
		case cursor.Issued:
			concerned = concerned || e.Package != "" && e.Source == cursor.KittySpecs
		case cursor.Reported:
			concerned = concerned || e.Package != "" && s.Source == cursor.KittySpecs
		case cursor.Moved:
			if e.Source != cursor.KittySpecs {
				continue
			}
			concerned = true
			moves = append(moves, lanelog.Move{
				Package: e.Package, From: e.From, To: e.To, Actor: actor, Holder: lanes.Person(e.Holder), Author: lanes.Person(e.Author),
				Reason: e.Reason, Force: e.Force, Ends: e.Ends,
			})
		}
	}
	return moves, concerned
}

// noteLog warns where a commit changed the lane log.
func (r *reading) noteLog(events []cursor.Event) {
	for _, event := range events {
		if m, ok := event.(cursor.Moved); ok && m.Source == cursor.KittySpecs {
			r.warn(WarnLogChanged, filepath.Join(r.mission.Dir, lanes.LogFile)+" was appended to, and is not committed to git: commit it with your work")
			return
		}
	}
}
