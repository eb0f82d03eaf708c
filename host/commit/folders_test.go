package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

type folders = commit.Folders[committest.State, committest.Facts, committest.Event]

func foldersIn(root string, change ...func(*commit.Options)) *folders {
	var o commit.Options
	for _, c := range change {
		c(&o)
	}
	return commit.NewFolders(filepath.Join(root, "loops"), committest.Counter{}, &committest.Outside{}, o)
}

func foldersOn(d durable.Disk) *folders {
	return foldersIn(memRoot, func(o *commit.Options) { o.Disk, o.Locks = d, locks.Local() })
}

func create(t testing.TB, f *folders, name string, n int) committest.Store {
	t.Helper()
	s, out, err := f.Create(t.Context(), name, committest.ID(n), committest.Open{})
	if err != nil || !out.Committed || out.Revision != 1 {
		t.Fatalf("create %s: %+v %v", name, out, err)
	}
	return s
}

func reopen(t testing.TB, f *folders, name string) committest.Store {
	t.Helper()
	s, err := f.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// NoLockOnCreate: neither a creation nor a look makes the lock file; a commit
// does, and the file stays.
func TestFolderNoLockOnCreate(t *testing.T) {
	root := t.TempDir()
	create(t, foldersIn(root), "deps", 1)
	lock := filepath.Join(root, "loops", "deps", "state.json.lock")
	committest.MustRead(t, reopen(t, foldersIn(root), "deps"))
	if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a lock file after create and read: %v", err)
	}
	committest.MustCommit(t, reopen(t, foldersIn(root), "deps"), add("t1"))
	first, err := os.Stat(lock)
	must(t, err)
	committest.MustCommit(t, reopen(t, foldersIn(root), "deps"), add("t2"))
	if again, err := os.Stat(lock); err != nil || !os.SameFile(first, again) {
		t.Errorf("another lock file: %v", err)
	}
	if raw, err := os.ReadFile(filepath.Join(root, ".gitignore")); err != nil || string(raw) != "*\n" {
		t.Errorf(".gitignore: %q %v", raw, err)
	}
	if names, err := foldersIn(root).List(t.Context()); err != nil || !slices.Equal(names, []string{"deps"}) {
		t.Errorf("%v %v", names, err)
	}
}

// Row 34: of those that create one name together, one does.
func TestFolderCreatedByOne(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	results := make([]error, 8)
	begin := make(chan struct{})
	for i := range results {
		wg.Go(func() {
			<-begin
			_, _, results[i] = foldersIn(root).Create(t.Context(), "deps", committest.ID(i+1), committest.Open{})
		})
	}
	close(begin)
	wg.Wait()
	made := 0
	for _, err := range results {
		if err == nil {
			made++
		} else if !errors.As(err, new(*commit.ExistsError)) {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d made it", made)
	}
	entries, err := os.ReadDir(filepath.Join(root, "loops"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

// Row 33 and E1: a folder that is no store is none, and stays as it is.
func TestFolderUntracked(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "loops", "deps"), 0o755), os.WriteFile(filepath.Join(root, "loops", "deps", "notes"), []byte("x"), 0o644))
	before := tree(t, root)
	for _, name := range []string{"deps", "none"} {
		if _, err := foldersIn(root).Open(t.Context(), name); !errors.Is(err, commit.ErrNoRun) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := foldersIn(root).Create(t.Context(), "deps", committest.ID(1), committest.Open{}); !errors.As(err, new(*commit.ExistsError)) {
		t.Errorf("made over somebody's folder: %v", err)
	}
	sameTree(t, before, tree(t, root))
}

// Row 22 and E2: what has lost a part is damaged, never new, and no verb writes
// to it.
func TestFolderBroken(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"journal gone, view there": func(dir string) error { return os.Remove(filepath.Join(dir, "loop.jsonl")) },
		"both gone, runs there": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "runs"), 0o755), os.Remove(filepath.Join(dir, "loop.jsonl")), os.Remove(filepath.Join(dir, "state.json")))
		},
		"a bad line": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "loop.jsonl"), []byte("{}\n{}\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			named := func(o *commit.Options) { o.Journal = "loop.jsonl" }
			s := create(t, foldersIn(root, named), "deps", 1)
			committest.MustCommit(t, s, add("t1"))
			must(t, spoil(filepath.Join(root, "loops", "deps")))
			before := tree(t, root)
			s = reopen(t, foldersIn(root, named), "deps")
			if _, err := s.Read(t.Context()); !errors.As(err, new(*commit.DamagedError)) {
				t.Errorf("read: %v", err)
			}
			if _, err := s.Commit(t.Context(), add("t2")); !errors.As(err, new(*commit.DamagedError)) {
				t.Errorf("commit: %v", err)
			}
			if _, _, err := foldersIn(root, named).Create(t.Context(), "deps", committest.ID(2), committest.Open{}); !errors.As(err, new(*commit.ExistsError)) {
				t.Errorf("create: %v", err)
			}
			sameTree(t, before, tree(t, root))
		})
	}
}

// Rows 31 and 32: the folder is removed, or removed and made anew, at every
// point of a commit. Nothing is recorded in the new one, and nothing is made.
func TestFolderGoneOrReplaced(t *testing.T) {
	for _, point := range []string{"", commit.PointLockAcquired, commit.PointBeforeAppend} {
		for _, anew := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %q, made anew %v", point, anew), func(t *testing.T) {
				root := t.TempDir()
				dir := filepath.Join(root, "loops", "deps")
				create(t, foldersIn(root), "deps", 1)
				strike := func() {
					must(t, os.RemoveAll(dir))
					if anew {
						create(t, foldersIn(root), "deps", 2)
					}
				}
				s := reopen(t, foldersIn(root, hook(func(at string) {
					if at == point {
						strike()
					}
				})), "deps")
				if point == "" {
					strike()
				}
				_, err := s.Commit(t.Context(), add("t1"))
				other := new(commit.SupersededError)
				switch {
				case !anew && !errors.Is(err, commit.ErrNoRun):
					t.Errorf("removed: %v", err)
				case anew && (!errors.As(err, &other) || other.Now != committest.ID(2)):
					t.Errorf("made anew: %v", err)
				}
				if !anew {
					if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("something was made anew: %v", err)
					}
					return
				}
				if got := committest.MustRead(t, reopen(t, foldersIn(root), "deps")); got.Revision != 1 || got.ID != committest.ID(2) {
					t.Errorf("the new one: %+v", got)
				}
			})
		}
	}
}

func TestFolderDiscard(t *testing.T) {
	root := t.TempDir()
	f := foldersIn(root)
	s := create(t, f, "deps", 1)
	if err := f.Discard(t.Context(), s); err == nil {
		t.Error("one that is not finished was removed")
	}
	committest.MustCommit(t, s, committest.Finish{})
	must(t, f.Discard(t.Context(), s))
	if err := f.Discard(t.Context(), s); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("again: %v", err)
	}
	if _, err := s.Commit(t.Context(), add("t")); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("a commit on it: %v", err)
	}
	create(t, f, "deps", 2)
	if err := f.Discard(t.Context(), s); !errors.As(err, new(*commit.SupersededError)) {
		t.Errorf("the old one's removal touched the new one: %v", err)
	}
}

// A creation and the first commit, with an error or a power failure at every
// operation of the disk.
func TestFolderSweep(t *testing.T) {
	alone(t)
	work := func(d durable.Disk) (created, added bool) {
		for range 2 {
			if _, _, err := foldersOn(d).Create(t.Context(), "deps", committest.ID(1), committest.Open{}); err == nil || errors.As(err, new(*commit.ExistsError)) {
				created = err == nil || created
				break
			}
		}
		for range 2 {
			s, err := foldersOn(d).Open(t.Context(), "deps")
			if err != nil {
				continue
			}
			if _, err := s.Commit(t.Context(), add("t1")); err == nil {
				return created, true
			}
		}
		return created, false
	}
	check := func(d durable.Disk, created, added bool, what string) {
		s, err := foldersOn(d).Open(t.Context(), "deps")
		if err != nil {
			if created || added || !errors.Is(err, commit.ErrNoRun) {
				t.Errorf("%s: created %v, added %v: %v", what, created, added, err)
			}
			return
		}
		snap, err := s.Read(t.Context())
		if err != nil || added && snap.State.Count != 1 {
			t.Errorf("%s: created %v, added %v: %+v %v", what, created, added, snap, err)
		}
		if _, err := s.Commit(t.Context(), add("t9")); err != nil {
			t.Errorf("%s: the next commit: %v", what, err)
		}
	}
	for n := 0; ; n++ {
		mem := durable.NewMem()
		faulty := &durable.Faulty{Disk: mem, Fail: durable.FailAt(n), Short: 20}
		created, added := work(faulty)
		check(mem.Crash(512, durable.Nothing), created, added, fmt.Sprintf("operation %d failed, nothing survived", n))
		check(mem, created, added, fmt.Sprintf("operation %d failed", n))
		if faulty.Count() <= n {
			atLeast(t, n, 15)
			break
		}
	}
	for n := 0; ; n++ {
		mem := durable.NewMem()
		var left *durable.Mem
		faulty := &durable.Faulty{Disk: mem, Before: func(i int, _ durable.Op) {
			if i == n {
				left = mem.Crash(512, durable.Nothing)
			}
		}}
		created, added := work(faulty)
		if left == nil {
			check(mem.Crash(512, durable.Nothing), created, added, "after the last operation")
			break
		}
		check(left, false, false, fmt.Sprintf("power failed before operation %d", n))
	}
}

// A link in the place of the stores' own folder is followed by no call.
func TestFolderBehindALink(t *testing.T) {
	root := t.TempDir()
	create(t, foldersIn(root), "deps", 1)
	outside := moved(t, filepath.Join(root, "loops"))
	before := tree(t, outside)
	refused := func(what string, err error) {
		t.Helper()
		if damaged := new(commit.DamagedError); !errors.As(err, &damaged) || damaged.File != filepath.Join(root, "loops") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err := foldersIn(root).Create(t.Context(), "other", committest.ID(2), committest.Open{})
	refused("create", err)
	s := reopen(t, foldersIn(root), "deps")
	_, err = s.Read(t.Context())
	refused("read", err)
	_, err = s.Commit(t.Context(), committest.Finish{})
	refused("commit", err)
	refused("discard", foldersIn(root).Discard(t.Context(), s))
	sameTree(t, before, tree(t, outside))
}
