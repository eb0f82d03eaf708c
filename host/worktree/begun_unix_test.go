//go:build unix

package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/worktree"
)

// dying is a git that is killed in an addition, when a script has filled the folder in
// its last argument but one: git was told to end and took its registration back, its
// child did not know of that.
func dying(t testing.TB, script string) string {
	t.Helper()
	real, err := exec.LookPath("git")
	must(t, err)
	path := filepath.Join(t.TempDir(), "git")
	write(t, path, fmt.Sprintf(`#!/bin/sh
case "$*" in
*"worktree add"*) while test $# -gt 2; do shift; done; mkdir -p "$1"; cd "$1"; %s; kill -9 $$;;
esac
exec %q "$@"
`, script, real))
	must(t, os.Chmod(path, 0o755))
	return path
}

// Row 37: a git that was killed while it made our worktree leaves a folder that git does
// not list. It is made anew; where anything lies in it that git did not write there, all
// of it is kept.
func TestEnsureTakesOverWhatItBegan_Row37(t *testing.T) {
	for name, tt := range map[string]struct{ left, kept string }{
		"nothing":           {`:`, ""},
		"half of the files": {`printf o > file`, ""},
		"with its .git":     {`printf o > file; echo "gitdir: /nowhere" > .git`, ""},
		"somebody's file":   {`printf o > file; mkdir mine; printf mine > mine/notes`, "mine/notes"},
		"somebody's link":   {`printf o > file; ln -s /etc/passwd notes`, "notes"},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, registered before: %v", name, again), func(t *testing.T) {
				r, base := repo(t)
				path := filepath.Join(r.Root, ".worktrees", "loop-deps")
				if again {
					must(t, r.Ensure(t.Context(), path, base.ID, false), os.RemoveAll(path))
				}
				killed := r
				killed.Program = dying(t, tt.left)
				if err := killed.Ensure(t.Context(), path, base.ID, false); err == nil || !worktree.Begun(path) {
					t.Fatalf("it was not killed, or is not marked: %v", err)
				}
				if again {
					run(t, r.Root, "worktree", "prune")
				}
				var aside string
				r.SetAside = func(to string) { aside = to }
				must(t, r.Ensure(t.Context(), path, base.ID, false))
				clean(t, r, path, base)
				if worktree.Begun(path) {
					t.Error("it is marked as begun for ever")
				}
				if tt.kept == "" && aside != "" {
					t.Errorf("git's own files were set aside to %s", aside)
				}
				if _, err := os.Lstat(filepath.Join(aside, tt.kept)); tt.kept != "" && (err != nil || !strings.HasPrefix(filepath.Base(aside), "set-aside-loop-deps-")) {
					t.Errorf("what git did not write is in %q: %v", aside, err)
				}
			})
		}
	}
}

// What was not begun by us, or was whole once since, is somebody's.
func TestWhatIsNotMarkedIsForeign_Row37(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	killed := r
	killed.Program = dying(t, `printf o > file`)
	if err := killed.Ensure(t.Context(), path, base.ID, false); err == nil {
		t.Fatal("it was not killed")
	}
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	run(t, r.Root, "worktree", "remove", "--force", path)
	write(t, filepath.Join(path, "file"), "one\n")
	if err := r.Ensure(t.Context(), path, base.ID, false); !errors.As(err, new(*worktree.BusyError)) {
		t.Errorf("%v", err)
	}
	if raw, err := os.ReadFile(filepath.Join(path, "file")); err != nil || string(raw) != "one\n" {
		t.Errorf("%q %v", raw, err)
	}
}

// A removal takes what was begun, and leaves nothing of the mark.
func TestRemoveTakesWhatWasBegun_Row37(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	killed := r
	killed.Program = dying(t, `printf o > file`)
	if err := killed.Ensure(t.Context(), path, base.ID, false); err == nil {
		t.Fatal("it was not killed")
	}
	must(t, r.Remove(t.Context(), path))
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 || left[0].Name() != ".gitignore" {
		t.Errorf("%v %v", left, err)
	}
}
