package commit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

func owned(by string) func(o *commit.Options) { return func(o *commit.Options) { o.Owner = by } }

// A root that has an owner takes no start and no commit of another; one that was in
// use before gets its owner from the first commit.
func TestOwner(t *testing.T) {
	for _, before := range []bool{false, true} {
		root := filepath.Join(t.TempDir(), "root")
		if before {
			committest.Start(t, real(root), "a", 1)
			committest.MustCommit(t, lookup(t, real(root, owned("/p/one")), "a"), committest.Add{By: 1})
		} else {
			committest.Start(t, real(root, owned("/p/one")), "a", 1)
		}
		other := real(root, owned("/p/two"))
		_, _, started := other.Start(t.Context(), "b", committest.New{ID: committest.ID(2), First: committest.Open{}})
		_, committed := lookup(t, other, "a").Commit(t.Context(), committest.Add{By: 1})
		for what, err := range map[string]error{"start": started, "commit": committed, "check": commit.CheckOwner(nil, root, "/p/two")} {
			refused := new(commit.OwnedError)
			if !errors.As(err, &refused) || !slices.Equal(refused.Have, []string{"/p/one"}) || refused.Owner != "/p/two" {
				t.Errorf("%s, in use before %v: %v", what, before, err)
			}
		}
		committest.MustCommit(t, lookup(t, real(root, owned("/p/one")), "a"), committest.Add{By: 1})
		must(t, commit.CheckOwner(nil, root, "/p/one"))

		file := filepath.Join(root, "owner.json")
		must(t, os.WriteFile(file, []byte(`{"format":1,"projects":["/p/one","/p/two"]}`), 0o644))
		committest.MustCommit(t, lookup(t, other, "a"), committest.Add{By: 1})
		must(t, os.WriteFile(file, nil, 0o644))
		if err := commit.CheckOwner(nil, root, "/p/one"); !errors.As(err, new(*commit.DamagedError)) {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// What lies in the file's place and is none, or is too much, is damage that is named,
// with what to do: nobody uses the root meanwhile, and nothing is written.
func TestNoOwnerInItsPlace(t *testing.T) {
	for kind, put := range map[string]func(path string) error{
		"a folder":          func(path string) error { return os.Mkdir(path, 0o755) },
		"a link":            func(path string) error { return os.Symlink(os.DevNull, path) },
		"a link to nowhere": func(path string) error { return os.Symlink("nowhere", path) },
		"a link to a file": func(path string) error {
			return errors.Join(os.WriteFile(path+".other", []byte("{}"), 0o644), os.Symlink(path+".other", path))
		},
		"a link to itself":   func(path string) error { return os.Symlink("owner.json", path) },
		"more than it holds": func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o644) },
	} {
		t.Run(kind, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			mine := real(root, owned("/p/one"))
			committest.Start(t, mine, "a", 1)
			file := filepath.Join(root, "owner.json")
			must(t, os.Remove(file), put(file))
			before := tree(t, filepath.Join(root, "runs"))
			_, _, started := mine.Start(t.Context(), "b", committest.New{ID: committest.ID(2), First: committest.Open{}})
			_, committed := lookup(t, mine, "a").Commit(t.Context(), committest.Add{By: 1})
			for what, err := range map[string]error{"start": started, "commit": committed, "check": commit.CheckOwner(nil, root, "/p/one")} {
				damaged := new(commit.DamagedError)
				if !errors.As(err, &damaged) || damaged.File != file || !strings.Contains(damaged.Fix, `move it away, then write {"format":1,"projects":["/p/one"]} into a file of that name`) {
					t.Errorf("%s: %v", what, err)
				}
			}
			sameTree(t, before, tree(t, filepath.Join(root, "runs")))
		})
	}
}

// Of two that use a root for the first time at once one has it, and the other
// nothing.
func TestOwnersAtOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	var all sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		all.Go(func() {
			_, _, errs[n] = real(root, owned(committest.ID(n))).Start(t.Context(), committest.ID(n), committest.New{ID: committest.ID(n), First: committest.Open{}})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.As(err, new(*commit.OwnedError)) {
			t.Error(err)
		}
	}
	runs, err := real(root).List(t.Context())
	if won != 1 || err != nil || len(runs) != 1 {
		t.Errorf("%d won, %d runs, %v", won, len(runs), err)
	}
}

// Whose the root is outlasts a crash once something in it is acknowledged.
func TestOwnerLasts(t *testing.T) {
	mem := durable.NewMem()
	committest.Start(t, catalog(mem, owned("/p/one")), "a", 1)
	if err := commit.CheckOwner(mem.Crash(512, durable.Nothing), memRoot, "/p/two"); !errors.As(err, new(*commit.OwnedError)) {
		t.Errorf("after a crash: %v", err)
	}
}
