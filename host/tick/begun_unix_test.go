//go:build unix

package tick

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// Rows 14, 15 and 37: a tick is killed while git makes a worktree of it. Git ends and
// takes its registration back, its child goes on filling the folder. The next tick ends
// the child, and the one after makes the worktree anew: nobody has to do anything.
func TestKilledWhileGitMakesTheWorktree_Row37(t *testing.T) {
	for _, place := range []string{"loop-deps", "loop-deps-verify"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("true")} })
			y.create("deps")
			hand := y.startIn(fillingGit(t, y, place), order{Root: y.root, Defs: y.defs}, nil)
			waitFor(t, "the folder is half filled", func() bool { return exists(filepath.Join(y.root, "pid")) })
			child := y.pid()
			t.Cleanup(func() { syscall.Kill(child, syscall.SIGKILL) })
			must(t, hand.Process.Kill())
			hand.Wait()
			if syscall.Kill(child, 0) != nil {
				t.Fatal("the child died with its runner, so this proves nothing")
			}
			y.want(y.tick(y.loops()), Skipped, "backoff")
			if s := y.status(); s.LastRun != string(loop.EndCrashed) {
				t.Errorf("%+v", s)
			}
			for _, c := range y.loops().Preflight(t.Context(), "deps").Checks {
				if c.Check == "worktree" && c.Level != LevelOK {
					t.Errorf("%+v", c)
				}
			}
			later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
			y.want(y.tick(later), Done, "success")
			waitFor(t, "the child is gone", func() bool { return syscall.Kill(child, 0) != nil })
			if n := y.landed(); n != 1 {
				t.Errorf("%d commits landed", n)
			}
			for _, one := range []string{"set-aside-*", ".*.begun"} {
				if left, _ := filepath.Glob(filepath.Join(y.root, ".worktrees", one)); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
		})
	}
}

// What a person put into the place meanwhile is kept, and the tick says where.
func TestSetAsideIsTold_Row37(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	hand := y.startIn(fillingGit(t, y, "loop-deps"), order{Root: y.root, Defs: y.defs}, nil)
	waitFor(t, "the folder is half filled", func() bool { return exists(filepath.Join(y.root, "pid")) })
	must(t, hand.Process.Kill())
	hand.Wait()
	y.want(y.tick(y.loops()), Skipped, "backoff")
	write(t, filepath.Join(y.loops().worktreePath("deps"), "notes"), "mine")
	later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	report := y.tick(later)
	y.want(report, Done, "success")
	aside := filepath.Join(y.root, ".worktrees", "set-aside-loop-deps-1")
	if raw, err := os.ReadFile(filepath.Join(aside, "notes")); err != nil || string(raw) != "mine" {
		t.Errorf("%q %v", raw, err)
	}
	if w := report.Warnings; len(w) != 1 || w[0].Code != "set_aside" || !strings.Contains(w[0].Message, aside) {
		t.Errorf("%+v", w)
	}
}

// fillingGit is a PATH whose git, asked for a new worktree, has a child fill the folder
// that does not hear of its end.
func fillingGit(t *testing.T, y *yard, place string) string {
	t.Helper()
	real, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(fmt.Sprintf(`#!/bin/sh
case "$*" in
*"worktree add"*/%s\ *)
	while test $# -gt 2; do shift; done
	mkdir -p "$1" && printf o > "$1/file"
	sh -c 'trap "" TERM; echo $$ > "$2.new"; mv "$2.new" "$2"; for i in 1 2 3 4 5 6 7 8 9; do printf o > "$1/file"; sleep 1; done' sh "$1" %q &
	wait;;
esac
exec %q "$@"
`, place, filepath.Join(y.root, "pid"), real)), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// Rows 16 and 37: git and the tick die together while a worktree is brought to a commit.
// Git's locks there, of HEAD as of the index, are the loop's own: the next run goes on.
func TestLocksOfGitInOwnWorktrees_Row37(t *testing.T) {
	for _, place := range []string{"loop-deps", "loop-deps-verify"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, commits, func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("true")} })
			y.create("deps")
			y.want(y.tick(y.loops()), Done, "success") // the worktrees are there
			hand := y.startIn(dyingGit(t, place), order{Root: y.root, Defs: y.defs}, nil)
			hand.Wait()
			lock := filepath.Join(y.root, ".git", "worktrees", place, "HEAD.lock")
			if !exists(lock) || y.status().Claim == nil {
				t.Fatal("they did not die in the checkout")
			}
			y.want(y.tick(y.loops()), Skipped, "backoff")
			later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
			y.want(y.tick(later), Done, "success")
			if y.landed() != 2 || exists(lock) {
				t.Errorf("%d commits landed; the lock is there: %v", y.landed(), exists(lock))
			}
		})
	}
}

// dyingGit is a PATH whose git is killed with its caller while it checks a worktree out.
func dyingGit(t *testing.T, place string) string {
	t.Helper()
	real, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(fmt.Sprintf(`#!/bin/sh
case "$PWD $*" in
*/%s\ *" checkout "*) d=$(%[2]q rev-parse --absolute-git-dir); touch "$d/HEAD.lock" "$d/index.lock"; kill -9 $PPID; kill -9 $$;;
esac
exec %[2]q "$@"
`, place, real)), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}
