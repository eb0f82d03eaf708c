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
			if died := o.toRecover(); died != "" {
				return "retired; " + died + ": the next tick, or `spec-kitty loop recover " + name + "`, ends it"
			}
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
// asked any more; what could not be removed is warned of. A removal that was cut
// short is finished.
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
//
// What its runs left is looked for before the lock is taken: git is not asked under it.
// So the loop as it was read must be one that begins and ends no run any more:
//
//	removal                             a run of the loop
//	finds that nothing is kept
//	                                    keeps its result, ends
//	commits: no run has the loop
//	drops the result
func (o *opened) remove(ctx context.Context, who string, force bool) error {
	remove := removal{Remove: loop.Remove{By: o.l.by(who), Force: force}}
	_, remove.early = remove.Decide(o.state, o.l.facts(o.name, o.state), o.l.now())
	branch := ""
	if src, err := o.l.ground.Source(o.name); err == nil {
		branch = src.Worktree.Branch
	}
	kept, err := o.l.repo.Kept(ctx, o.name, branch)
	if err != nil && !force {
		return err
	}
	for _, k := range kept {
		remove.unlanded = append(remove.unlanded, k.Commit)
	}
	_, err = o.commit(ctx, remove)
	return err
}

// discard takes away what a removed loop left. What cannot be taken away now is a
// warning; the same removal, or a creation under this name, tries again.
func (o *opened) discard(ctx context.Context, who string) Report {
	report := o.report(Done, "removed", "loop "+o.name+" is removed")
	o.forgetSchedule(ctx, who, &report)
	o.forgetResults(ctx, &report)
	if err := o.l.folders.Discard(ctx, o.store); err != nil && !errors.Is(err, commit.ErrNoRun) {
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

// forgetResults removes what a loop has in the repository, but for its branch.
func (o *opened) forgetResults(ctx context.Context, report *Report) {
	repo := o.l.repo
	repo.SetAside = func(path string) { report.Warnings = append(report.Warnings, setAside(path)) }
	for _, path := range []string{o.l.worktreePath(o.name), o.l.verifyPath(o.name)} {
		if err := repo.Remove(ctx, path); err != nil {
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
