package commit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

func startAgain(t *testing.T, cat committest.Catalog, slug string, n int) error {
	t.Helper()
	_, _, err := cat.Start(t.Context(), slug, committest.New{ID: committest.ID(n), First: committest.Open{}, Again: true})
	return err
}

// put writes a tree's files back.
func putBack(t *testing.T, files map[string]string) {
	t.Helper()
	for path, data := range files {
		must(t, os.WriteFile(path, []byte(data), 0o644))
	}
}

// A wrong index hides no live run: readers find it, no start makes another one,
// and its next commit mends the index. Run 1 of the slug is finished, run 2 is
// live; old is the index as it was before run 2.
func TestWrongIndexHidesNoRun(t *testing.T) {
	forged := func(entries, runs int) string {
		return fmt.Sprintf(`{"format":1,"entries":%d,"runs":%d}`, entries, runs)
	}
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }
	tests := map[string]func(t *testing.T, index string, old map[string]string) error{
		"entry removed, a count that fits": func(_ *testing.T, i string, _ map[string]string) error {
			return errors.Join(os.Remove(filepath.Join(i, "a")), write(filepath.Join(i, ".complete"), forged(1, 3)))
		},
		"entry removed": func(_ *testing.T, i string, _ map[string]string) error {
			return os.Remove(filepath.Join(i, "a"))
		},
		"entry is a link to nowhere": func(_ *testing.T, i string, _ map[string]string) error {
			path := filepath.Join(i, "a")
			return errors.Join(os.Remove(path), os.Symlink("nowhere", path))
		},
		"older entry": func(_ *testing.T, i string, old map[string]string) error {
			return write(filepath.Join(i, "a"), old[filepath.Join(i, "a")])
		},
		"older index": func(t *testing.T, i string, old map[string]string) error {
			must(t, os.RemoveAll(i), os.Mkdir(i, 0o755))
			putBack(t, old)
			return nil
		},
		"older roster, no entry": func(_ *testing.T, i string, old map[string]string) error {
			return errors.Join(os.Remove(filepath.Join(i, "a")), write(filepath.Join(i, ".roster"), old[filepath.Join(i, ".roster")]))
		},
		"roster cut short, older entry": func(_ *testing.T, i string, old map[string]string) error {
			return errors.Join(os.Truncate(filepath.Join(i, ".roster"), 30), write(filepath.Join(i, "a"), old[filepath.Join(i, "a")]))
		},
		"no mark, older entry": func(_ *testing.T, i string, old map[string]string) error {
			return errors.Join(os.Remove(runFile(filepath.Dir(i), 1, "successor.json")), os.Remove(filepath.Join(i, "a")))
		},
	}
	for name, spoil := range tests {
		for _, how := range []string{"commit", "start", "start again"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "root")
				index := filepath.Join(root, "index")
				committest.MustCommit(t, committest.Start(t, real(root), "a", 1), committest.Finish{})
				committest.Start(t, real(root), "b", 3)
				old := tree(t, index)
				must(t, startAgain(t, real(root), "a", 2))
				good := tree(t, index)
				must(t, spoil(t, index, old))
				if s := lookup(t, real(root), "a"); s.ID() != committest.ID(2) {
					t.Errorf("found %s", s.ID())
				}
				if how == "commit" {
					committest.MustCommit(t, lookup(t, real(root), "a"), add("t1"))
				} else {
					_, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(4), First: committest.Open{}, Again: how == "start again"})
					var exists *commit.ExistsError
					if !errors.As(err, &exists) || exists.ID != committest.ID(2) {
						t.Fatalf("start: %v", err)
					}
				}
				_ = os.Remove(filepath.Join(index, ".complete"))
				sameTree(t, good, tree(t, index))
			})
		}
	}
}

// Somebody removes the entry again and again while callers look the run up and
// start it where they are told that there is none.
func TestEntryRemovedWhileAtWork(t *testing.T) {
	mem := durable.NewMem()
	removing := &durable.Faulty{Disk: mem, Before: func(int, durable.Op) { _ = mem.Remove(memRoot + "/index/a") }}
	for n := range 10 {
		s, err := catalog(removing).Lookup(t.Context(), "a")
		if errors.Is(err, commit.ErrNoRun) {
			s, _, err = catalog(removing).Start(t.Context(), "a", committest.New{ID: committest.ID(n), First: committest.Open{}})
		}
		must(t, err)
		committest.MustCommit(t, s, add(fmt.Sprint("t", n)))
	}
	if all, err := catalog(mem).List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("runs %v, %v", all, err)
	}
}

// A clock that was set back does not make the older run the slug's.
func TestSuccessorByAClockSetBack(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	committest.MustCommit(t, committest.Start(t, real(root), "a", 1), committest.Finish{})
	must(t, startAgain(t, real(root, func(o *commit.Options) {
		o.Now = func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	}), "a", 2))
	for _, gone := range []string{"", "index"} {
		if gone != "" {
			must(t, os.RemoveAll(filepath.Join(root, gone)))
		}
		if s := lookup(t, real(root), "a"); s.ID() != committest.ID(2) {
			t.Errorf("%q gone: found %s", gone, s.ID())
		}
		if err := startAgain(t, real(root), "a", 3); !errors.As(err, new(*commit.ExistsError)) {
			t.Errorf("%q gone: start: %v", gone, err)
		}
	}
}

// A run's folder is deleted while the index names it: there is no run, and another
// one is started for who asks for it, whatever is started meanwhile. One that lost its journal only is damaged.
func TestFolderDeleted(t *testing.T) {
	for _, gone := range []string{"", "run.events.jsonl"} {
		t.Run("gone: "+gone, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			committest.Start(t, real(root), "a", 1)
			must(t, os.RemoveAll(runFile(root, 1, gone)))
			s, err := real(root).Lookup(t.Context(), "a")
			if gone == "" {
				if !errors.Is(err, commit.ErrNoRun) {
					t.Errorf("lookup: %v", err)
				}
				for n, other := range []string{"b", "c"} {
					committest.Start(t, real(root), other, 3+n)
					gone := new(commit.GoneError)
					_, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}})
					if !errors.As(err, &gone) || gone.ID != committest.ID(1) {
						t.Errorf("start: %v", err)
					}
					if all, err := real(root).(commit.Keeper).Gone(t.Context()); err != nil || len(all) != 1 || all[0].ID != committest.ID(1) || all[0].Slug != "a" {
						t.Errorf("gone: %v %v", all, err)
					}
				}
				must(t, startAgain(t, real(root), "a", 2))
				if all, err := real(root).(commit.Keeper).Gone(t.Context()); err != nil || len(all) != 0 {
					t.Errorf("gone, and followed: %v %v", all, err)
				}
				if s := lookup(t, real(root), "a"); s.ID() != committest.ID(2) {
					t.Errorf("found %s", s.ID())
				}
				return
			}
			must(t, err)
			if _, err := s.Read(t.Context()); !errors.As(err, new(*commit.DamagedError)) {
				t.Errorf("read: %v", err)
			}
			if err := startAgain(t, real(root), "a", 2); err == nil {
				t.Error("a second run was started")
			}
		})
	}
}

// "There is no such run" needs a look that found none: a disk that fails while
// it is looked for is an error of its own, for readers and for starts.
func TestNoRunIsNotAFailure(t *testing.T) {
	mem := durable.NewMem()
	committest.Start(t, catalog(mem), "a", 1)
	must(t, mem.RemoveAll(memRoot+"/index"))
	for _, kind := range []string{"open", "readdir"} {
		broken := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
			if op.Kind == kind && filepath.Base(op.Path) != ".roster" {
				return durable.ErrInjected
			}
			return nil
		}}
		if _, err := catalog(broken).Lookup(t.Context(), "a"); !errors.Is(err, durable.ErrInjected) {
			t.Errorf("%s, lookup: %v", kind, err)
		}
		if _, _, err := catalog(broken).Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}}); !errors.Is(err, durable.ErrInjected) {
			t.Errorf("%s, start: %v", kind, err)
		}
	}
}

// A finished run gets a successor; the disk fails or the power goes at each
// operation, some of it survives. One live run is left in the end, and it is
// the one that was acknowledged.
func TestSweepSuccessor(t *testing.T) {
	alone(t)
	base := durable.NewMem()
	committest.MustCommit(t, committest.Start(t, catalog(base), "a", 1), committest.Finish{})
	for name, choose := range survivals(3) {
		for n := 0; ; n++ {
			mem := base.Crash(512, durable.Everything)
			faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: 20}
			failed := startAgain(t, catalog(faulty), "a", 2)
			oneLive(t, mem.Crash(choose()), failed == nil, fmt.Sprintf("operation %d failed, %s survived", n, name))
			oneLive(t, mem, failed == nil, fmt.Sprintf("operation %d failed", n))

			mem = base.Crash(512, durable.Everything)
			var left *durable.Mem
			cut := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
				if i == n {
					left = mem.Crash(choose())
				}
			}}
			must(t, startAgain(t, catalog(cut), "a", 2))
			if left == nil {
				atLeast(t, n, 15)
				break
			}
			oneLive(t, left, false, fmt.Sprintf("power before operation %d, %s survived", n, name))
		}
	}
}

func oneLive(t *testing.T, d durable.Disk, acked bool, what string) {
	t.Helper()
	s := lookup(t, catalog(d), "a")
	if acked && s.ID() != committest.ID(2) {
		t.Fatalf("%s: acknowledged, found %s", what, s.ID())
	}
	first := s.ID() == committest.ID(1)
	if err := startAgain(t, catalog(d), "a", 3); (err == nil) != first || err != nil && !errors.As(err, new(*commit.ExistsError)) {
		t.Fatalf("%s: found %s, the next start: %v", what, s.ID(), err)
	}
	if err := startAgain(t, catalog(d), "a", 4); !errors.As(err, new(*commit.ExistsError)) {
		t.Fatalf("%s: a second live run: %v", what, err)
	}
	if all, err := catalog(d).List(t.Context()); err != nil || len(all) != 2 {
		t.Fatalf("%s: %v, %v", what, all, err)
	}
	committest.MustCommit(t, lookup(t, catalog(d), "a"), add("next"))
}
