package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// stopped is the outcome of a run whose programs were ended before their time; nil
// where the run is not ours to end any more.
func (r *running) stopped(cause error) transition {
	over := new(limitError)
	switch {
	case errors.Is(cause, errGone), errors.Is(cause, errOvertaken):
		return nil
	case errors.Is(cause, errCanceled):
		return loop.CancelRun{Tick: r.mine(), Usage: r.used()}
	case errors.As(cause, &over):
		return loop.HitLimit{Tick: r.mine(), Crossing: over.Crossing, Usage: r.used()}
	case errors.Is(cause, errFlood):
		return loop.FailRun{Tick: r.mine(), Why: "output_limit", Detail: cause.Error(), Usage: r.used()}
	case errors.Is(cause, errIdle):
		return loop.FailRun{Tick: r.mine(), Why: "idle", Detail: cause.Error(), Usage: r.used()}
	case errors.Is(cause, errFenced):
		return loop.FailRun{Tick: r.mine(), Why: "fenced", Detail: cause.Error(), Usage: r.used()}
	}
	return loop.CancelRun{Tick: r.mine(), Signal: cmp.Or(cause.Error(), "interrupt"), Usage: r.used()}
}

// failure is the outcome of a run that could not go on.
func (r *running) failure(err error) transition {
	why := cmp.Or(gitCode(err), "error")
	return loop.FailRun{Tick: r.mine(), Why: why, Detail: err.Error(), Usage: r.used()}
}

// gitCode is the word for what git, or a worktree, refused; "" for another error.
func gitCode(err error) string {
	switch {
	case errors.As(err, new(*worktree.BusyError)):
		return "worktree_busy"
	case errors.As(err, new(*worktree.CheckedOutError)):
		return "branch_checked_out"
	case errors.As(err, new(*worktree.LockedError)):
		return "branch_locked"
	case errors.As(err, new(*worktree.NotFoundError)):
		return "base_missing"
	case errors.As(err, new(*worktree.GitError)), errors.As(err, new(*worktree.UnsyncedError)):
		return "git"
	}
	return ""
}

// unplaced ends a claim that has no folder for its run.
func (o *opened) unplaced(ctx context.Context, by loop.By, err error) (Report, error) {
	own := loop.Tick{By: by, UID: o.state.UID, Token: o.state.Claim.Token}
	detail := fmt.Sprintf("%s cannot be made: %v", o.l.runDir(o.name, own.Token), err)
	out, err := o.commit(context.WithoutCancel(ctx), loop.FailRun{Tick: own, Why: "run_folder", Detail: detail})
	if err != nil {
		return o.lost(err)
	}
	return o.told(out.Events), nil
}
