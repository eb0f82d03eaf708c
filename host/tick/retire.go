package tick

import (
	"context"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Retire ends a loop for good, then takes it out of its scheduler.
func (l *Loops) Retire(ctx context.Context, name, who, reason string, now bool) (Report, error) {
	report, err := l.act(ctx, name, loop.Retire{By: l.by(who), Reason: reason, Now: now}, "retired", func(o *opened) string {
		if c := o.state.Claim; c != nil {
			return fmt.Sprintf("retired; run %d is at work and %s", c.Token, code(now, "is to end as canceled", "goes on to its end"))
		}
		return "retired"
	})
	if err != nil {
		return report, err
	}
	o, err := l.open(ctx, name)
	if err != nil {
		return report, err
	}
	defer o.close()
	o.forgetSchedule(ctx, who, &report)
	return report, nil
}

// Remove removes a retired loop: its state, its worktrees and, with force, what its
// runs left and nobody merged. Force also removes a loop whose repository cannot be
// asked any more; what could not be removed is warned of.
func (l *Loops) Remove(ctx context.Context, name, who string, force bool) (Report, error) {
	o, err := l.open(ctx, name)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	branch := ""
	if src, err := l.ground.Source(name); err == nil {
		branch = src.Worktree.Branch
	}
	kept, err := l.repo.Kept(ctx, name, branch)
	if err != nil && !force {
		return Report{}, err
	}
	remove := removal{Remove: loop.Remove{By: l.by(who), Force: force}}
	for _, k := range kept {
		remove.unlanded = append(remove.unlanded, k.Commit)
	}
	if _, err := o.commit(ctx, remove); err != nil {
		return Report{}, err
	}
	report := o.report(Done, "removed", "loop "+name+" is removed")
	o.forgetSchedule(ctx, who, &report)
	o.forgetResults(ctx, &report)
	if err := l.folders.Discard(ctx, o.store); err != nil && !errors.Is(err, commit.ErrNoRun) {
		report.Warnings = append(report.Warnings, Warning{"folder_left", err.Error()})
	}
	return report, nil
}

// forgetResults removes what a loop has in the repository, but for its branch.
func (o *opened) forgetResults(ctx context.Context, report *Report) {
	for _, path := range []string{o.l.worktreePath(o.name), o.l.verifyPath(o.name)} {
		if err := o.l.repo.Remove(ctx, path); err != nil {
			report.Warnings = append(report.Warnings, Warning{"worktree_left", err.Error()})
		}
	}
	all, err := o.l.repo.Kept(ctx, o.name, "")
	for _, k := range all {
		err = errors.Join(err, o.l.repo.Drop(ctx, o.name, k.Token))
	}
	if err != nil {
		report.Warnings = append(report.Warnings, Warning{"results_left", err.Error()})
	}
}
