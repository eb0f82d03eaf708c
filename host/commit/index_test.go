package commit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

func TestFirstUse(t *testing.T) {
	root := filepath.Join(t.TempDir(), ".kittify", "step-runner")
	cat := real(root)
	if _, err := cat.Lookup(t.Context(), "a"); !errors.Is(err, commit.ErrNoRun) {
		t.Errorf("lookup: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(root)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lookup made the folder: %v", err)
	}
	committest.Start(t, cat, "a", 1)
	if data, err := os.ReadFile(filepath.Join(root, ".gitignore")); string(data) != "*\n" || err != nil {
		t.Errorf(".gitignore %q, %v", data, err)
	}
	if _, err := os.Stat(runFile(root, 1, "state.json.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a start took the run's lock: %v", err)
	}
}

// The index is a view: whatever is wrong with it, readers find the run, no
// second one is started, and the next writer mends it. An entry of a run that is gone
// stays: it may come back.
func TestIndexIsMended(t *testing.T) {
	entry := func(slug string, n int) string {
		return fmt.Sprintf(`{"format":1,"slug":%q,"run":%q}`+"\n", slug, committest.ID(n))
	}
	tests := map[string]func(index string) error{
		"entry removed":            func(i string) error { return os.Remove(filepath.Join(i, "a")) },
		"all removed":              os.RemoveAll,
		"roster removed":           func(i string) error { return os.Remove(filepath.Join(i, ".roster")) },
		"entry is junk":            func(i string) error { return os.WriteFile(filepath.Join(i, "a"), []byte("junk"), 0o644) },
		"entry is empty":           func(i string) error { return os.WriteFile(filepath.Join(i, "a"), nil, 0o644) },
		"names a missing run":      func(i string) error { return os.WriteFile(filepath.Join(i, "a"), []byte(entry("a", 77)), 0o644) },
		"names another slug's run": func(i string) error { return os.WriteFile(filepath.Join(i, "a"), []byte(entry("a", 2)), 0o644) },
		"is another slug's entry":  func(i string) error { return os.WriteFile(filepath.Join(i, "a"), []byte(entry("b", 2)), 0o644) },
		"roster is junk":           func(i string) error { return os.WriteFile(filepath.Join(i, ".roster"), []byte("{"), 0o644) },
		"an entry too many":        func(i string) error { return os.WriteFile(filepath.Join(i, "c"), []byte(entry("c", 2)), 0o644) },
		"leaves outside": func(i string) error {
			return os.WriteFile(filepath.Join(i, "a"), []byte(`{"format":1,"slug":"a","run":"../../x"}`), 0o644)
		},
	}
	for name, spoil := range tests {
		for _, how := range []string{"commit", "start"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "root")
				committest.Start(t, real(root), "a", 1)
				committest.Start(t, real(root), "b", 2)
				index := filepath.Join(root, "index")
				good := tree(t, index)
				must(t, spoil(index))
				if name == "names a missing run" {
					good = tree(t, index)
				}
				if s := lookup(t, real(root), "a"); s.ID() != committest.ID(1) {
					t.Fatalf("found %s", s.ID())
				}
				if _, err := real(root).Lookup(t.Context(), "c"); !errors.Is(err, commit.ErrNoRun) {
					t.Errorf("lookup of c: %v", err)
				}
				if how == "start" {
					_, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(3), First: committest.Open{}})
					var exists *commit.ExistsError
					if !errors.As(err, &exists) || exists.ID != committest.ID(1) {
						t.Fatalf("start: %v", err)
					}
				} else {
					// A commit on a run that the index names rightly mends
					// nothing else.
					committest.MustCommit(t, lookup(t, real(root), "a"), add("t1"))
					if name == "an entry too many" || strings.HasPrefix(name, "roster") {
						return
					}
				}
				sameTree(t, good, tree(t, index))
			})
		}
	}
}

// A finished run's successor that lost its entry in a crash counts, since it
// is the later one.
func TestSuccessorWithoutEntry(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	committest.MustCommit(t, committest.Start(t, real(root), "a", 5), committest.Finish{})
	index := filepath.Join(root, "index")
	old := tree(t, index)
	if _, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(1), First: committest.Open{}, Again: true}); err != nil {
		t.Fatal(err)
	}
	for path, data := range old {
		must(t, os.WriteFile(path, []byte(data), 0o644))
	}
	must(t, os.Remove(filepath.Join(index, ".roster")))
	if s := lookup(t, real(root), "a"); s.ID() != committest.ID(1) {
		t.Errorf("found %s", s.ID())
	}
	committest.MustCommit(t, lookup(t, real(root), "a"), add("t1"))
	if s := lookup(t, real(root), "a"); s.ID() != committest.ID(1) {
		t.Errorf("found %s after a commit", s.ID())
	}
}

// A folder that a dead start left, seen under the index lock, is removed.
func TestDeadPrivateFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	committest.Start(t, real(root), "a", 1)
	dead := filepath.Join(root, "runs", ".new-"+committest.ID(2))
	must(t, os.MkdirAll(filepath.Join(dead, "sub"), 0o755), os.WriteFile(filepath.Join(dead, "sub", "x"), nil, 0o644))
	committest.Start(t, real(root), "b", 2)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}

func TestRunIDTaken(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	committest.Start(t, real(root), "a", 1)
	if _, _, err := real(root).Start(t.Context(), "b", committest.New{ID: committest.ID(1), First: committest.Open{}}); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v", err)
	}
}

// Finding a run, and finding that there is none, opens the same few files
// whatever the number of runs.
func TestLookupDoesNotGrow(t *testing.T) {
	faulty := &durable.Faulty{Disk: durable.NewMem()}
	cat := catalog(faulty)
	cost := func(slug string) int {
		faulty.Reset()
		if _, err := cat.Lookup(t.Context(), slug); err != nil && !errors.Is(err, commit.ErrNoRun) {
			t.Fatal(err)
		}
		return faulty.Count()
	}
	committest.Start(t, cat, "s0", 0)
	hit, miss := cost("s0"), cost("none")
	for n := 1; n < 50; n++ {
		committest.Start(t, cat, fmt.Sprint("s", n), n)
	}
	if h, m := cost("s25"), cost("none"); h != hit || m != miss {
		t.Errorf("operations of a hit %d, then %d; of a miss %d, then %d", hit, h, miss, m)
	}
}

// The clock of a record is the core's, read once under the lock.
func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("x", 3600))
	asked := 0
	cat := catalog(durable.NewMem(), func(o *commit.Options) {
		o.Now = func() time.Time { asked++; return now }
	})
	out := committest.MustCommit(t, committest.Start(t, cat, "a", 1), add("t1"))
	if asked != 2 || !out.At.Equal(now) || out.At.Location() != time.UTC {
		t.Errorf("asked %d times, %v", asked, out.At)
	}
}

// A run has its name and its starter is gone before the index entry. The entry
// that the slug has is the finished run's; the mark that vouches for it went
// before the name came.
func TestKilledSuccessor(t *testing.T) {
	mem := durable.NewMem()
	committest.MustCommit(t, committest.Start(t, catalog(mem), "a", 1), committest.Finish{})
	gone := errors.New("gone")
	func() {
		defer func() {
			if r := recover(); r != gone {
				t.Fatalf("recovered %v", r)
			}
		}()
		cat := catalog(mem, hook(func(point string) {
			if point == commit.PointStartRenamed {
				panic(gone)
			}
		}))
		_, _, _ = cat.Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}, Again: true})
	}()
	if s := lookup(t, catalog(mem), "a"); s.ID() != committest.ID(2) {
		t.Errorf("found %s", s.ID())
	}
}

// A run whose name could not be made durable, opened by its id: a commit on it
// is acknowledged only once the name is durable.
func TestOpenMakesTheNameDurable(t *testing.T) {
	mem := durable.NewMem()
	committest.Start(t, catalog(mem), "a", 1)
	renamed := false
	faulty := &durable.Faulty{Disk: mem, Fail: func(_ int, op durable.Op) error {
		renamed = renamed || op.Kind == "rename" && filepath.Base(op.Path) == committest.ID(2)
		if renamed && op.Kind == "syncdir" {
			return durable.ErrInjected
		}
		return nil
	}}
	_, _, err := catalog(faulty).Start(t.Context(), "b", committest.New{ID: committest.ID(2), First: committest.Open{}})
	if !errors.As(err, new(*commit.UncertainError)) {
		t.Fatalf("start: %v", err)
	}
	open := func(d durable.Disk) committest.Store {
		s, err := catalog(d).Open(t.Context(), committest.ID(2))
		must(t, err)
		return s
	}
	if out, err := open(faulty).Commit(t.Context(), add("t1")); !errors.As(err, new(*commit.AppendError)) || out.Committed {
		t.Errorf("while it cannot be: %+v, %v", out, err)
	}
	committest.MustCommit(t, open(mem), add("t1"))
	if got := tokens(t, open(mem.Crash(512, durable.Nothing))); len(got) != 1 {
		t.Errorf("after the power failed: %v", got)
	}
}
