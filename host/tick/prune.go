package tick

import (
	"context"
	"os"
	"slices"
	"strconv"

	"github.com/spec-kitty/step-runner/host/loop"
)

// prune removes the folders of old runs, and lets results be collected that lie on
// the branch. What has not landed is kept, whatever its age, and so is what a
// request or an orphan speaks of.
func (r *running) prune(ctx context.Context, report *Report) {
	r.folder.removeTemps()
	if err := r.pruneFolders(); err != nil {
		report.Warnings = append(report.Warnings, Warning{"not_pruned", err.Error()})
	}
	if err := r.pruneResults(ctx); err != nil {
		report.Warnings = append(report.Warnings, Warning{"not_pruned", err.Error()})
	}
}

func (r *running) pruneFolders() error {
	runs, err := r.folder.loop.Open(runsName)
	if err != nil {
		return err
	}
	defer runs.Close()
	names, err := runs.Readdirnames(-1)
	if err != nil {
		return err
	}
	var tokens []uint64
	for _, name := range names {
		if token, err := strconv.ParseUint(name, 10, 64); err == nil && !spokenOf(r.state, token) {
			tokens = append(tokens, token)
		}
	}
	slices.Sort(tokens)
	for len(tokens) > max(r.src.Worktree.KeepRuns, 1) {
		if err := r.folder.loop.RemoveAll(runsName + string(os.PathSeparator) + itoa(tokens[0])); err != nil {
			return err
		}
		tokens = tokens[1:]
	}
	return nil
}

// spokenOf tells whether the state still needs a run's folder.
func spokenOf(s loop.State, token uint64) bool {
	if s.Approval != nil && s.Approval.Token == token || s.Claim != nil && s.Claim.Token == token {
		return true
	}
	return slices.ContainsFunc(s.Orphans, func(o loop.Orphan) bool { return o.Token == token })
}

func (r *running) pruneResults(ctx context.Context) error {
	all, err := r.l.repo.Kept(ctx, r.name, "")
	if err != nil || len(all) <= r.src.Worktree.KeepRuns {
		return err
	}
	left, err := r.l.repo.Kept(ctx, r.name, r.src.Worktree.Branch)
	if err != nil {
		return err
	}
	unlanded := map[uint64]bool{}
	for _, k := range left {
		unlanded[k.Token] = true
	}
	for _, k := range all[:len(all)-r.src.Worktree.KeepRuns] {
		if unlanded[k.Token] || spokenOf(r.state, k.Token) {
			continue
		}
		if err := r.l.repo.Drop(ctx, r.name, k.Token); err != nil {
			return err
		}
	}
	return nil
}
