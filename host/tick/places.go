package tick

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// worktreePath is the loop's folder to work in, and the one to verify in.
func (l *Loops) worktreePath(name string) string {
	return filepath.Join(l.ground.Root, ".worktrees", "loop-"+name)
}

func (l *Loops) verifyPath(name string) string { return l.worktreePath(name) + "-verify" }

// repoOf is the repository, to a loop that has worktrees of its own in it.
func (l *Loops) repoOf(name string) worktree.Repo {
	repo := l.repo
	repo.Own = []string{l.worktreePath(name), l.verifyPath(name)}
	return repo
}

// setAside says where something went that lay in a worktree's place.
func setAside(path string) Warning {
	return Warning{"set_aside", "what a run that died left in the place of its worktree was not all from the commit: it lies in " + path + " now; look at it, then remove it"}
}

// within is the project's folder in a checkout: its top, but for a project that is
// one of several in a repository.
func (l *Loops) within(checkout string) string {
	return filepath.Join(checkout, filepath.FromSlash(l.repo.Place()))
}

// homeless ends a run whose checkout has no folder of the project.
func (r *running) homeless(checkout, commit string) *conclusion {
	if info, err := os.Stat(r.l.within(checkout)); err == nil && info.IsDir() {
		return nil
	}
	return conclude(loop.FailRun{Tick: r.mine(), Why: "base_missing", Usage: r.used(),
		Detail: fmt.Sprintf("commit %s has no folder %s, which the project lies in: commit it to the branch that the loop begins at", commit, r.l.repo.Place())})
}
