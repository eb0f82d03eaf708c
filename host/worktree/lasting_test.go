package worktree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/worktree"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// watched gives the repository a disk that notes what is synced, and fails where fail
// says so.
func watched(r worktree.Repo, fail func(op durable.Op) error) (worktree.Repo, map[string]bool) {
	synced := map[string]bool{}
	r.Disk = &durable.Faulty{Disk: durable.OS(), Fail: func(_ int, op durable.Op) error {
		err := fail(op)
		if (op.Kind == "sync" || op.Kind == "syncdir") && err == nil {
			synced[op.Path] = true
		}
		return err
	}}
	return r, synced
}

func never(durable.Op) error { return nil }

// What a landing stands on outlasts a power failure, though the work's own git synced
// none of it: each loose object of the result, the refs, and the names of all of them.
func TestWhatLandsLasts(t *testing.T) {
	plain, base := repo(t)
	path := filepath.Join(plain.Root, ".worktrees", "loop-deps")
	must(t, plain.Ensure(t.Context(), path, base.ID, false))
	worked(t, plain, path, "a/first", "x")
	result := worked(t, plain, path, "b/second", "y")
	r, synced := watched(plain, never)
	must(t, r.Keep(t.Context(), "deps", 7, result.ID, base.ID))
	git := filepath.Join(plain.Root, ".git")
	want := []string{filepath.Join(git, "objects"), filepath.Join(git, "refs", "spec-kitty", "loops", "deps", "7"), filepath.Join(git, "refs")}
	ids := strings.Fields(run(t, plain.Root, "rev-list", "--objects", "--no-object-names", result.ID, "^"+base.ID))
	if len(ids) != 8 { // two commits, two top folders, two folders, two files
		t.Fatalf("%d objects", len(ids))
	}
	for _, id := range ids {
		want = append(want, filepath.Join(git, "objects", id[:2], id[2:]), filepath.Join(git, "objects", id[:2]))
	}
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, result.ID, "x"))
	want = append(want, filepath.Join(git, "refs", "heads", "loop", "deps"), filepath.Join(git, "refs", "heads", "loop"))
	for _, path := range want {
		if !synced[path] {
			t.Errorf("%s was not synced", path)
		}
	}
	if old := filepath.Join(git, "objects", base.ID[:2], base.ID[2:]); synced[old] {
		t.Error("what was there before the run was synced")
	}
}

// A result in a pack is git's to sync, but for the pack's name.
func TestPackedResultLasts(t *testing.T) {
	plain, base := repo(t)
	path := filepath.Join(plain.Root, ".worktrees", "loop-deps")
	must(t, plain.Ensure(t.Context(), path, base.ID, false))
	result := worked(t, plain, path, "first", "x")
	run(t, path, "repack", "-adq")
	r, synced := watched(plain, never)
	must(t, r.Keep(t.Context(), "deps", 7, result.ID, base.ID))
	if !synced[filepath.Join(plain.Root, ".git", "objects", "pack")] {
		t.Errorf("%v", synced)
	}
}

// A disk that fails is told of, at whatever it failed, and the same call again is good.
func TestUnsyncedIsTold(t *testing.T) {
	plain, base := repo(t)
	path := filepath.Join(plain.Root, ".worktrees", "loop-deps")
	must(t, plain.Ensure(t.Context(), path, base.ID, false))
	result := worked(t, plain, path, "first", "x")
	failing := func(part string) worktree.Repo {
		r, _ := watched(plain, func(op durable.Op) error {
			if strings.HasPrefix(op.Kind, "sync") && strings.Contains(op.Path, filepath.FromSlash(part)) {
				return os.ErrInvalid
			}
			return nil
		})
		return r
	}
	for _, part := range []string{"objects/" + result.ID[:2] + "/" + result.ID[2:], "objects/" + result.Tree[:2], "loops/deps/7"} {
		if err := failing(part).Keep(t.Context(), "deps", 7, result.ID, base.ID); !errors.As(err, new(*worktree.UnsyncedError)) {
			t.Errorf("%s: %v", part, err)
		}
	}
	must(t, plain.Keep(t.Context(), "deps", 7, result.ID, base.ID))
	if err := failing("heads/loop").Land(t.Context(), "loop/deps", worktree.NoCommit, result.ID, "x"); !errors.As(err, new(*worktree.UnsyncedError)) {
		t.Error(err)
	}
	r, synced := watched(plain, never)
	must(t, r.Land(t.Context(), "loop/deps", worktree.NoCommit, result.ID, "x"))
	if !synced[filepath.Join(plain.Root, ".git", "refs", "heads", "loop", "deps")] {
		t.Errorf("a move that was made before is not made to last: %v", synced)
	}
}
