package tick

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// askLand asks a person before the landing: where the definition wants it, and
// wherever the work changed what judges it.
func (r *running) askLand(ctx context.Context) (*conclusion, error) {
	if r.result.Tree == r.base.Tree {
		return nil, nil
	}
	changed, err := r.l.repo.Changed(ctx, r.base.ID, r.result.ID)
	if err != nil {
		return nil, err
	}
	protected := r.protected(changed)
	if !r.src.Asks(loop.ToLand) && len(protected) == 0 {
		return nil, nil
	}
	return conclude(loop.Ask{Tick: r.mine(), ID: ulid.Make().String(), Subject: loop.Subject{
		Stage: loop.ToLand, Definition: r.src.Digest, Base: r.base.ID, Result: r.result.ID, Tree: r.result.Tree,
		Verify: r.verdict, Protected: protected, Goal: r.met,
	}}), nil
}

// protected are those of the changed files that judge the work: the definition,
// its scripts and what the verifier's patterns name.
func (r *running) protected(changed []string) []string {
	var patterns []string
	if r.src.Verify != nil {
		patterns = r.src.Verify.Protect
	}
	own := map[string]bool{}
	for path := range r.src.Scripts {
		own[path] = true
	}
	own[r.src.File] = true
	place, named := r.l.repo.Place(), r.named()
	top := strings.TrimSuffix(r.l.ground.Root, filepath.FromSlash(place))
	found := loop.Protected(patterns, changed)
	for _, file := range changed {
		if own[filepath.Join(top, filepath.FromSlash(file))] || named[file] {
			found = append(found, file)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// named are the arguments of what judges the work, as files of the checkout that it
// runs in: with ["sh", "check.sh"] the work's own check.sh is run.
func (r *running) named() map[string]bool {
	files := map[string]bool{}
	for _, c := range r.src.Checks() {
		argv := c.Run
		if declared, err := r.l.ground.Command(c.Command); c.Command != "" && err == nil {
			argv = declared.Argv
		}
		for _, arg := range argv {
			files[path.Join(r.l.repo.Place(), filepath.ToSlash(arg))] = true
		}
	}
	return files
}

// land moves the loop's branch to the result: the intent first, then git's own
// compare-and-swap with no lock held, then the outcome by where the branch is.
func (r *running) land(ctx context.Context) (Report, error) {
	if r.result.Tree == r.base.Tree {
		return r.end(ctx, loop.FinishRun{Tick: r.mine(), Goal: r.met, Detail: r.unkept})
	}
	return r.intend(ctx, loop.BeginLanding{Tick: r.mine(), Old: r.base.ID, New: r.result.ID, Tree: r.result.Tree, Branch: r.src.Worktree.Branch, Goal: r.met})
}

// landGranted lands what a person approved: an earlier run's result.
func (r *running) landGranted(ctx context.Context, grant loop.Grant) (Report, error) {
	s := grant.Subject
	if err := mayMove(ctx, r.l.repoOf(r.name), r.src.Worktree.Branch); err != nil {
		report, _, err := r.over(ctx, nil, err)
		return report, err
	}
	return r.intend(ctx, loop.BeginLanding{Tick: r.mine(), Old: s.Base, New: s.Result, Tree: s.Tree, Branch: r.src.Worktree.Branch, Protected: s.Protected, Goal: s.Goal})
}

func (r *running) intend(ctx context.Context, intent loop.BeginLanding) (Report, error) {
	if ctx.Err() != nil {
		report, _, err := r.over(ctx, nil, nil)
		return report, err
	}
	if _, err := r.commit(context.WithoutCancel(ctx), intent); err != nil {
		report, _, err := r.over(ctx, nil, err)
		return report, err
	}
	r.l.hook(PointIntended)
	// From here on the landing is finished, whatever ends the tick meanwhile: git
	// may have moved the branch already.
	ctx = context.WithoutCancel(ctx)
	head, err := r.l.swap(ctx, r.name, r.src.Worktree.Branch, intent.Old, intent.New, "loop "+r.name+", run "+itoa(r.token))
	if errors.As(err, new(*worktree.UnsyncedError)) {
		return Report{}, fmt.Errorf("%w; the next tick moves the branch once more, and keeps the books then", err)
	}
	if err != nil {
		return r.end(ctx, loop.FailRun{Tick: r.mine(), Why: "landing_failed", Detail: err.Error()})
	}
	r.l.hook(PointLanded)
	return r.end(ctx, loop.FinishRun{Tick: r.mine(), Head: head, Detail: r.unkept})
}

// mayMove refuses a branch that a landing could not move.
func mayMove(ctx context.Context, repo worktree.Repo, branch string) error {
	if err := repo.MayLand(ctx, branch); err != nil {
		return err
	}
	return repo.Unlock(ctx, branch)
}

// swap moves the branch and says where it is then: at the result, or where
// somebody else moved it.
func (l *Loops) swap(ctx context.Context, name, branch, old, to, reason string) (head string, err error) {
	err = l.repoOf(name).Land(ctx, branch, old, to, reason)
	moved := new(worktree.MovedError)
	switch {
	case errors.As(err, &moved) && moved.Have == worktree.NoCommit:
		return "", nil
	case errors.As(err, &moved):
		return moved.Have, nil
	}
	return to, err
}
