package tick

import (
	"context"
	"errors"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Remove removes a retired loop: its state, its worktrees and, with force, what its
// runs left and nobody merged. A removal that was cut short is finished.
func (l *Loops) Remove(ctx context.Context, name, who string, force bool) (Report, error) {
	o, err := l.found(ctx, name)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	if err := o.read(ctx); err != nil && !o.state.Removed {
		return Report{}, err
	}
	if !o.state.Removed {
		if err := o.remove(ctx, who, force); err != nil {
			return Report{}, err
		}
	}
	return o.discard(ctx, who), nil
}

// remove records that a loop is removed: from there on it is.
func (o *opened) remove(ctx context.Context, who string, force bool) error {
	branch := ""
	if src, err := o.l.ground.Source(o.name); err == nil {
		branch = src.Worktree.Branch
	}
	kept, err := o.l.repo.Kept(ctx, o.name, branch)
	if err != nil {
		return err
	}
	remove := removal{Remove: loop.Remove{By: o.l.by(who), Force: force}}
	for _, k := range kept {
		remove.unlanded = append(remove.unlanded, k.Commit)
	}
	_, err = o.commit(ctx, remove)
	return err
}

// discard takes away what a removed loop left. What cannot be taken away now is a
// warning; the same removal, or a creation under this name, tries again.
func (o *opened) discard(ctx context.Context, who string) Report {
	l, name := o.l, o.name
	report := o.report(Done, "removed", "loop "+name+" is removed")
	o.forgetSchedule(ctx, who, &report)
	for _, path := range []string{l.worktreePath(name), l.verifyPath(name)} {
		if err := l.repo.Remove(ctx, path); err != nil {
			report.Warnings = append(report.Warnings, Warning{"worktree_left", err.Error()})
		}
	}
	all, err := l.repo.Kept(ctx, name, "")
	for _, k := range all {
		err = errors.Join(err, l.repo.Drop(ctx, name, k.Token))
	}
	if err := errors.Join(err, l.folders.Discard(ctx, o.store)); err != nil && !errors.Is(err, commit.ErrNoRun) {
		report.Warnings = append(report.Warnings, Warning{"folder_left", err.Error()})
	}
	return report
}

// halfRemoved finishes a removal that was cut short after its record; it tells
// whether there was one.
func (l *Loops) halfRemoved(ctx context.Context, name, who string) bool {
	o, err := l.found(ctx, name)
	if err != nil {
		return false
	}
	defer o.close()
	if err := o.read(ctx); err == nil || !o.state.Removed {
		return false
	}
	o.discard(ctx, who)
	return true
}
