package worktree_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/worktree"
)

func TestMain(m *testing.M) {
	command.Main()
	goleak.VerifyTestMain(m)
}

// run calls git as a person would.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// repo is a repository with one commit on main.
func repo(t testing.TB) (worktree.Repo, worktree.Commit) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	root := filepath.Join(t.TempDir(), "project")
	write(t, filepath.Join(root, "file"), "one\n")
	write(t, filepath.Join(root, ".gitignore"), "cache/\n")
	run(t, root, "init", "-q", "-b", "main")
	run(t, root, "add", ".")
	run(t, root, "commit", "-qm", "one")
	r := worktree.Repo{Root: root}
	c, err := r.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// worked is a commit made in a worktree.
func worked(t testing.TB, r worktree.Repo, path, file, content string) worktree.Commit {
	t.Helper()
	write(t, filepath.Join(path, file), content)
	run(t, path, "add", ".")
	run(t, path, "commit", "-qm", "work")
	c, err := r.Head(t.Context(), path)
	must(t, err)
	return c
}

func clean(t testing.TB, r worktree.Repo, path string, at worktree.Commit) {
	t.Helper()
	head, err := r.Head(t.Context(), path)
	dirty, err2 := r.Uncommitted(t.Context(), path)
	if err != nil || err2 != nil || head != at || len(dirty) > 0 {
		t.Errorf("at %v, dirty %v: %v %v; want %v", head, dirty, err, err2, at)
	}
	if branch := run(t, path, "rev-parse", "--abbrev-ref", "HEAD"); branch != "HEAD" {
		t.Errorf("it is on branch %s", branch)
	}
}

func TestEnsureMakesAndResets(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	clean(t, r, path, base)

	run(t, path, "checkout", "-qb", "left-over")
	worked(t, r, path, "new", "x")
	write(t, filepath.Join(path, "file"), "changed")
	write(t, filepath.Join(path, "untracked", "x"), "x")
	write(t, filepath.Join(path, "cache", "x"), "x")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	clean(t, r, path, base)
	if _, err := os.Stat(filepath.Join(path, "cache", "x")); err != nil {
		t.Errorf("ignored files are kept between runs: %v", err)
	}
	must(t, r.Ensure(t.Context(), path, base.ID, true))
	if _, err := os.Stat(filepath.Join(path, "cache")); err == nil {
		t.Error("a pristine checkout has ignored files")
	}
	if got := run(t, r.Root, "status", "--porcelain", "--", "file"); got != "" {
		t.Errorf("the main worktree: %s", got)
	}
}

// Row 37: what a broken attempt left, at the loop's own path, is repaired.
func TestEnsureRepairsItsOwn_Row37(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, r worktree.Repo, path string){
		"missing but registered": func(t *testing.T, r worktree.Repo, path string) { must(t, os.RemoveAll(path)) },
		"an addition that did not end": func(t *testing.T, r worktree.Repo, path string) {
			write(t, filepath.Join(r.Root, ".git", "worktrees", filepath.Base(path), "locked"), "initializing")
			must(t, os.RemoveAll(path))
		},
		"half of an addition": func(t *testing.T, r worktree.Repo, path string) {
			write(t, filepath.Join(r.Root, ".git", "worktrees", filepath.Base(path), "locked"), "initializing")
			must(t, os.Remove(filepath.Join(path, "file")))
		},
		"without its .git": func(t *testing.T, r worktree.Repo, path string) { must(t, os.Remove(filepath.Join(path, ".git"))) },
		"a .git that leads nowhere": func(t *testing.T, r worktree.Repo, path string) {
			write(t, filepath.Join(path, ".git"), "gitdir: /nowhere\n")
		},
		"an index lock": func(t *testing.T, r worktree.Repo, path string) {
			write(t, filepath.Join(r.Root, ".git", "worktrees", filepath.Base(path), "index.lock"), "")
		},
		"locks of HEAD, of a ref of its own and of its settings": func(t *testing.T, r worktree.Repo, path string) {
			for _, name := range []string{"HEAD.lock", "refs/bisect/bad.lock", "config.worktree.lock", "ORIG_HEAD.lock"} {
				write(t, filepath.Join(r.Root, ".git", "worktrees", filepath.Base(path), name), "")
			}
		},
		"a rebase that waits": func(t *testing.T, r worktree.Repo, path string) {
			must(t, os.Mkdir(filepath.Join(r.Root, ".git", "worktrees", filepath.Base(path), "rebase-merge"), 0o755))
		},
		"a merge that waits": func(t *testing.T, r worktree.Repo, path string) {
			run(t, path, "checkout", "-q", "--detach")
			base := run(t, path, "rev-parse", "HEAD")
			a := worked(t, r, path, "file", "a")
			run(t, path, "checkout", "-q", base)
			worked(t, r, path, "file", "b")
			if exec.Command("git", "-C", path, "merge", a.ID).Run() == nil {
				t.Fatal("no conflict")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, base := repo(t)
			path := filepath.Join(r.Root, ".worktrees", "loop-deps")
			must(t, r.Ensure(t.Context(), path, base.ID, false))
			spoil(t, r, path)
			must(t, r.Ensure(t.Context(), path, base.ID, false))
			clean(t, r, path, base)
			if begun := run(t, path, "status"); strings.Contains(begun, "in progress") || strings.Contains(begun, "merging") {
				t.Error(begun)
			}
		})
	}
}

// Row 37: what is somebody else's is left as it is.
func TestEnsureLeavesForeign_Row37(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	write(t, filepath.Join(path, "notes"), "mine")
	busy := new(worktree.BusyError)
	if err := r.Ensure(t.Context(), path, base.ID, false); !errors.As(err, &busy) {
		t.Errorf("a foreign folder: %v", err)
	}
	if err := r.Remove(t.Context(), path); !errors.As(err, &busy) {
		t.Errorf("removed a foreign folder: %v", err)
	}
	if raw, err := os.ReadFile(filepath.Join(path, "notes")); err != nil || string(raw) != "mine" {
		t.Errorf("the foreign file: %q %v", raw, err)
	}
	must(t, os.RemoveAll(path))
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	run(t, r.Root, "worktree", "lock", "--reason", "on a stick", path)
	if err := r.Ensure(t.Context(), path, base.ID, false); !errors.As(err, &busy) || !strings.Contains(err.Error(), "on a stick") {
		t.Errorf("a foreign lock: %v", err)
	}
	if err := r.Remove(t.Context(), path); !errors.As(err, &busy) {
		t.Errorf("removed a locked one: %v", err)
	}
}

// Row 38: a worktree that is gone is never taken for the repository above it.
func TestHeadOfWhatIsGone_Row38(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	must(t, os.Remove(filepath.Join(path, ".git")))
	if c, err := r.Head(t.Context(), path); !errors.As(err, new(*worktree.BusyError)) {
		t.Errorf("%v %v", c, err)
	}
}

// Two projects in one repository, each with a loop of the same name: neither sees, or
// writes over, what the other keeps.
func TestKeptOfEachProject(t *testing.T) {
	one, base := repo(t)
	write(t, filepath.Join(one.Root, "sub", "file"), "x")
	other := worktree.Repo{Root: filepath.Join(one.Root, "sub")}
	must(t, one.Keep(t.Context(), "deps", 7, base.ID, base.ID), other.Keep(t.Context(), "deps", 3, base.ID, base.ID))
	for _, packed := range []bool{false, true} {
		for want, r := range map[uint64]worktree.Repo{7: one, 3: other} {
			all, err := r.Kept(t.Context(), "deps", "")
			newest, err2 := r.NewestKept("deps")
			at, err3 := r.KeptAt("deps", want)
			if err := errors.Join(err, err2, err3); err != nil || len(all) != 1 || all[0].Token != want || newest != want || at != base.ID {
				t.Errorf("packed %v: %v %d %q %v", packed, all, newest, at, err)
			}
		}
		run(t, one.Root, "pack-refs", "--all")
	}
	must(t, other.Drop(t.Context(), "deps", 3))
	if all, err := one.Kept(t.Context(), "deps", ""); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// A link in place of the folder of worktrees, or of a worktree, leads nothing of ours out
// of the project.
func TestEnsureFollowsNoLink(t *testing.T) {
	for _, linked := range []string{".worktrees", ".worktrees/loop-deps"} {
		r, base := repo(t)
		away, path := t.TempDir(), filepath.Join(r.Root, ".worktrees", "loop-deps")
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(r.Root, linked)), 0o755))
		if err := os.Symlink(away, filepath.Join(r.Root, linked)); err != nil {
			t.Skip(err)
		}
		if err := r.Ensure(t.Context(), path, base.ID, true); !errors.As(err, new(*worktree.BusyError)) || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s: %v", linked, err)
		}
		if there, err := os.ReadDir(away); err != nil || len(there) > 0 {
			t.Errorf("%s: %v %v", linked, there, err)
		}
	}
}

func TestLand(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	result := worked(t, r, path, "new", "x")
	must(t, r.Keep(t.Context(), "deps", 7, result.ID, base.ID))

	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, result.ID, "loop deps, run 7"))
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, result.ID, "again")) // row 18: its answer was lost
	if c, err := r.Branch(t.Context(), "loop/deps"); err != nil || c != result {
		t.Errorf("%v %v", c, err)
	}
	next := worked(t, r, path, "newer", "x")
	moved := new(worktree.MovedError)
	if err := r.Land(t.Context(), "loop/deps", base.ID, next.ID, "stale"); !errors.As(err, &moved) || moved.Have != result.ID {
		t.Errorf("row 19: %v", err)
	}
	if err := r.Land(t.Context(), "loop/none", base.ID, next.ID, "gone"); !errors.As(err, &moved) || moved.Have != worktree.NoCommit {
		t.Errorf("a branch that was removed: %v", err)
	}
	must(t, r.Land(t.Context(), "loop/deps", result.ID, next.ID, "run 8"))

	run(t, r.Root, "checkout", "-q", "loop/deps")
	last := worked(t, r, path, "last", "x")
	if err := r.Land(t.Context(), "loop/deps", next.ID, last.ID, "run 9"); !errors.As(err, new(*worktree.CheckedOutError)) {
		t.Errorf("moved under somebody's feet: %v", err)
	}
	run(t, r.Root, "checkout", "-q", "main")
	hook := filepath.Join(r.Root, ".git", "hooks", "reference-transaction")
	write(t, hook, "#!/bin/sh\nexit 1\n")
	must(t, os.Chmod(hook, 0o755))
	if err := r.Land(t.Context(), "loop/deps", next.ID, last.ID, "run 9"); !errors.As(err, new(*worktree.GitError)) {
		t.Errorf("a swap that git refused: %v", err)
	}
}

func TestKeptResults(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	one := worked(t, r, path, "a", "x")
	two := worked(t, r, path, "b", "x")
	must(t, r.Keep(t.Context(), "deps", 9, one.ID, base.ID), r.Keep(t.Context(), "deps", 10, two.ID, one.ID), r.Keep(t.Context(), "other", 1, two.ID, one.ID))
	all, err := r.Kept(t.Context(), "deps", "")
	if err != nil || !slices.Equal(all, []worktree.Kept{{Token: 9, Commit: one.ID}, {Token: 10, Commit: two.ID}}) {
		t.Errorf("%v %v", all, err)
	}
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, one.ID, "x"))
	if left, err := r.Kept(t.Context(), "deps", "loop/deps"); err != nil || len(left) != 1 || left[0].Token != 10 {
		t.Errorf("unlanded: %v %v", left, err)
	}
	if left, err := r.Kept(t.Context(), "deps", "loop/none"); err != nil || len(left) != 2 {
		t.Errorf("without a branch: %v %v", left, err)
	}
	must(t, r.Drop(t.Context(), "deps", 9), r.Drop(t.Context(), "deps", 10))
	if left, err := r.Kept(t.Context(), "deps", ""); err != nil || len(left) != 0 {
		t.Errorf("dropped: %v %v", left, err)
	}
}

func TestLooks(t *testing.T) {
	r, base := repo(t)
	path := filepath.Join(r.Root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	to := worked(t, r, path, "a b/ü\n.txt", "x")
	files, err := r.Changed(t.Context(), base.ID, to.ID)
	if err != nil || !slices.Equal(files, []string{"a b/ü\n.txt"}) {
		t.Errorf("%q %v", files, err)
	}
	if diff, err := r.Diff(t.Context(), base.ID, to.ID); err != nil || !strings.Contains(diff, "+x") {
		t.Errorf("%q %v", diff, err)
	}
	if ok, err := r.Descends(t.Context(), to.ID, base.ID); err != nil || !ok {
		t.Errorf("%v %v", ok, err)
	}
	if ok, err := r.Descends(t.Context(), base.ID, to.ID); err != nil || ok {
		t.Errorf("%v %v", ok, err)
	}
	for _, name := range []string{"none", "", "--all", "HEAD:file"} {
		if c, err := r.Resolve(t.Context(), name); !errors.As(err, new(*worktree.NotFoundError)) {
			t.Errorf("%q: %v %v", name, c, err)
		}
	}
	for name, good := range map[string]bool{"loop/deps": true, "a b": false, "-x": false, "a..b": false} {
		if err := r.CheckBranch(t.Context(), name); (err == nil) != good {
			t.Errorf("branch %q: %v", name, err)
		}
	}
}

// What the caller's environment says of another repository is not followed.
func TestEnvironment(t *testing.T) {
	r, base := repo(t)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other"))
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	if c, err := r.Resolve(t.Context(), "main"); err != nil || c != base {
		t.Errorf("%v %v", c, err)
	}
}

func TestEnds(t *testing.T) {
	r, _ := repo(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Resolve(over, "main"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	failed := new(worktree.GitError)
	if _, err := (worktree.Repo{Root: r.Root, Program: "no-such-git"}).Resolve(t.Context(), "main"); !errors.As(err, &failed) || !strings.Contains(err.Error(), "could not be started") {
		t.Errorf("%v", err)
	}
	if _, err := (worktree.Repo{Root: t.TempDir()}).Resolve(t.Context(), "main"); !errors.As(err, &failed) {
		t.Errorf("outside of a repository: %v", err)
	}
}

// A project may be one of several in a repository, or be in a bare one: its refs are
// found, and where it lies.
func TestBelowTheTop(t *testing.T) {
	r, base := repo(t)
	must(t, r.Keep(t.Context(), "deps", 1, base.ID, base.ID))
	below := filepath.Join(r.Root, "a", "b")
	must(t, os.MkdirAll(below, 0o755))
	bare := filepath.Join(t.TempDir(), "bare")
	run(t, r.Root, "clone", "-q", "--mirror", r.Root, bare)
	linked := filepath.Join(t.TempDir(), "linked")
	run(t, r.Root, "worktree", "add", "-q", "--detach", linked, "main")
	must(t, os.MkdirAll(filepath.Join(linked, "c"), 0o755))
	for root, place := range map[string]string{r.Root: "", below: "a/b", bare: "", linked: "", filepath.Join(linked, "c"): "c", t.TempDir(): ""} {
		in := worktree.Repo{Root: root}
		if got := in.Place(); got != place {
			t.Errorf("%s lies in %q, want %q", root, got, place)
		}
		if place != "" { // what it keeps is apart from what those above keep
			must(t, in.Keep(t.Context(), "deps", 1, base.ID, base.ID))
		}
		tip, err := in.Tip("main")
		kept, errKept := in.KeptAt("deps", 1)
		if there := root == r.Root || place != "" || root == bare || root == linked; there != (err == nil && errKept == nil && tip == base.ID && kept == base.ID) {
			t.Errorf("%s: %q %v, %q %v", root, tip, err, kept, errKept)
		}
	}
}

// A hook of git's that hangs is ended with git, at the end of its time; nobody waits
// for ever, and nothing is moved.
func TestHookThatHangs(t *testing.T) {
	r, base := repo(t)
	hook := filepath.Join(r.Root, ".git", "hooks", "reference-transaction")
	write(t, hook, "#!/bin/sh\ngrep -q refs/heads/loop && exec sleep 60\n")
	must(t, os.Chmod(hook, 0o755))
	r.Timeout = 300 * time.Millisecond
	begin := time.Now()
	err := r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "x")
	if failed := new(worktree.GitError); !errors.As(err, &failed) || failed.Exit != -1 || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if _, err := r.Branch(t.Context(), "loop/deps"); !errors.As(err, new(*worktree.NotFoundError)) {
		t.Errorf("%v", err)
	}
}

// A repository whose ids are SHA-256 is one like others: a loop's branch is made in it,
// moved, and not moved where somebody else did.
func TestLandWithLongIDs(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	must(t, os.MkdirAll(root, 0o755))
	if out, err := exec.Command("git", "init", "-q", "-b", "main", "--object-format=sha256", root).CombinedOutput(); err != nil {
		t.Skipf("no such repositories here: %v %s", err, out)
	}
	write(t, filepath.Join(root, "file"), "one\n")
	run(t, root, "add", ".")
	run(t, root, "commit", "-qm", "one")
	r := worktree.Repo{Root: root}
	base, err := r.Resolve(t.Context(), "main")
	must(t, err)
	path := filepath.Join(root, ".worktrees", "loop-deps")
	must(t, r.Ensure(t.Context(), path, base.ID, false))
	result := worked(t, r, path, "new", "x")
	must(t, r.Keep(t.Context(), "deps", 1, result.ID, base.ID))
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "it begins here"))
	must(t, r.Land(t.Context(), "loop/deps", base.ID, result.ID, "run 1"))
	if tip, err := r.Tip("loop/deps"); err != nil || tip != result.ID {
		t.Errorf("%q %v", tip, err)
	}
	moved := new(worktree.MovedError)
	if err := r.Land(t.Context(), "loop/deps", worktree.NoCommit, base.ID, "made by somebody"); !errors.As(err, &moved) || moved.Have != result.ID {
		t.Errorf("%v", err)
	}
}

// A branch that is checked out in a folder of the caller's and in somebody else's is not
// moved under the other's feet.
func TestCheckedOutTwice(t *testing.T) {
	r, base := repo(t)
	own, other := filepath.Join(r.Root, ".worktrees", "own"), filepath.Join(t.TempDir(), "other")
	run(t, r.Root, "branch", "loop/deps")
	run(t, r.Root, "worktree", "add", "-q", own, "loop/deps")
	r.Own = []string{own}
	must(t, r.MayLand(t.Context(), "loop/deps"))
	run(t, r.Root, "worktree", "add", "-q", "--force", other, "loop/deps")
	checked := new(worktree.CheckedOutError)
	if err := r.Land(t.Context(), "loop/deps", base.ID, base.ID, "x"); !errors.As(err, &checked) || filepath.Base(checked.Path) != "other" {
		t.Errorf("%v", err)
	}
}

// What a hook complains of without end does not go whole into an error, which is kept.
func TestLongComplaint(t *testing.T) {
	r, _ := repo(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not there")
	}
	r.Program = filepath.Join(t.TempDir(), "git")
	write(t, r.Program, "#!/bin/sh\nyes é | head -c 100001 >&2\necho the reason >&2\nexit 3\n")
	must(t, os.Chmod(r.Program, 0o755))
	_, err := r.Resolve(t.Context(), "main")
	if err == nil || len(err.Error()) > 4<<10 || !strings.HasSuffix(err.Error(), "the reason") || !utf8.ValidString(err.Error()) {
		t.Errorf("%.200v", err)
	}
}
