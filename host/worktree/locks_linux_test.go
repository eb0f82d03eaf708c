package worktree_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/worktree"
)

// waitingGit is a git that is at work in a folder until the returned function ends it.
func waitingGit(t testing.TB, dir string, args ...string) (end func()) {
	t.Helper()
	cmd := exec.Command("git", append(args, "cat-file", "--batch")...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	fmt.Fprintln(in, "HEAD")
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it is git by now
		t.Fatal(err)
	}
	end = func() { in.Close(); io.Copy(io.Discard, out); cmd.Wait() }
	t.Cleanup(end)
	return end
}

// Row 17: a git that was killed in a move leaves its lock. The next move removes it, on
// the branch and on what is kept of a run alike.
func TestLockOfKilledGit_Row17(t *testing.T) {
	t.Parallel()
	r, base := repo(t)
	other, _ := repo(t)
	waitingGit(t, other.Root) // a git elsewhere is none of ours
	real, err := exec.LookPath("git")
	must(t, err)
	killed := r
	killed.Program = filepath.Join(t.TempDir(), "git")
	lock := filepath.Join(r.Root, ".git", "refs", "heads", "loop", "deps.lock")
	write(t, killed.Program, fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *update-ref*) mkdir -p %[1]q; echo x > %[2]q; kill -9 $$;; esac\nexec %[3]q \"$@\"\n", filepath.Dir(lock), lock, real))
	must(t, os.Chmod(killed.Program, 0o755))
	if err := killed.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "first"); err == nil || r.Lock("loop/deps") != lock {
		t.Fatalf("nothing was left: %v", err)
	}
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "again"))
	if left := r.Lock("loop/deps"); left != "" || run(t, r.Root, "rev-parse", "loop/deps") != base.ID {
		t.Errorf("left: %q", left)
	}
	kept := filepath.Join(r.Root, ".git", "refs", "spec-kitty", "loops", "deps", "7.lock")
	write(t, kept, "")
	must(t, r.Keep(t.Context(), "deps", 7, base.ID, base.ID))
	write(t, kept, "")
	must(t, r.Drop(t.Context(), "deps", 7))
}

// While a git is at work in the repository, wherever it was called from, nobody takes
// its lock away.
func TestLockThatMayBeHeld_Row37(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, root, path string) func(){
		"in the repository": func(t *testing.T, root, path string) func() { return waitingGit(t, root) },
		"in a worktree":     func(t *testing.T, root, path string) func() { return waitingGit(t, path) },
		"sent there": func(t *testing.T, root, path string) func() {
			return waitingGit(t, t.TempDir(), "--git-dir", filepath.Join(root, ".git"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, base := repo(t)
			path := filepath.Join(r.Root, ".worktrees", "loop-deps")
			must(t, r.Ensure(t.Context(), path, base.ID, false))
			lock := filepath.Join(r.Root, ".git", "refs", "heads", "loop", "deps.lock")
			write(t, lock, "")
			end := start(t, r.Root, path)
			err := r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "first")
			locked := new(worktree.LockedError)
			if !errors.As(err, &locked) || locked.Path != lock || !strings.Contains(err.Error(), "`rm '"+lock+"'`") {
				t.Errorf("%v", err)
			}
			if r.Lock("loop/deps") != lock {
				t.Error("the lock was taken away")
			}
			end()
			must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "first"))
		})
	}
}
