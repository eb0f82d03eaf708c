package commit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// five is a run in real files with four additions.
func five(t *testing.T) (root string) {
	root = filepath.Join(t.TempDir(), "root")
	s := committest.Start(t, real(root), "a", 1)
	for _, token := range []string{"t1", "t2", "t3", "t4"} {
		committest.MustCommit(t, s, add(token))
	}
	return root
}

// tree is every file under a folder with its content.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	must(t, err)
	return out
}

func sameTree(t testing.TB, want, got map[string]string) {
	t.Helper()
	for path, data := range got {
		if old, ok := want[path]; !ok {
			t.Errorf("made: %s", path)
		} else if old != data {
			t.Errorf("changed: %s", path)
		}
	}
	for path := range want {
		if _, ok := got[path]; !ok {
			t.Errorf("removed: %s", path)
		}
	}
}

func lines(t testing.TB, root string) []string {
	t.Helper()
	data, err := os.ReadFile(runFile(root, 1, "run.events.jsonl"))
	must(t, err)
	return slices.DeleteFunc(strings.SplitAfter(string(data), "\n"), func(l string) bool { return l == "" })
}

// forged is a record as another writer would make it.
func forged(t testing.TB, line string, change func(*journal.Record)) string {
	t.Helper()
	rec, err := journal.Parse([]byte(strings.TrimSuffix(line, "\n")))
	must(t, err)
	change(&rec)
	out, _, err := journal.Encode(rec)
	must(t, err)
	return string(out)
}

// What is damage is named with file and line, for readers and writers, and
// nothing is touched.
func TestDamage(t *testing.T) {
	type kind int
	const (
		damaged kind = iota
		twoWriters
		newer
	)
	tests := []struct {
		name   string
		change func(t *testing.T, l []string) []string
		noView bool
		kind   kind
		line   uint64
	}{
		{"the last line is bad", func(t *testing.T, l []string) []string { l[4] = strings.Replace(l[4], "me", "ME", 1); return l }, false, damaged, 5},
		{"a line is bad, no view", func(t *testing.T, l []string) []string { l[2] = strings.Replace(l[2], "me", "ME", 1); return l }, true, damaged, 3},
		{"zero bytes in a line, no view", func(t *testing.T, l []string) []string { l[2] = "\x00\x00" + l[2][2:]; return l }, true, damaged, 3},
		{"a line too few", func(t *testing.T, l []string) []string { return l[:4] }, false, damaged, 5},
		{"a line missing, no view", func(t *testing.T, l []string) []string { return append(l[:2], l[3:]...) }, true, damaged, 3},
		{"no line", func(t *testing.T, l []string) []string { return nil }, true, damaged, 1},
		{"no good line", func(t *testing.T, l []string) []string { return []string{"junk\n"} }, true, damaged, 1},
		{"another run's record", func(t *testing.T, l []string) []string {
			return append(l, forged(t, l[4], func(r *journal.Record) { r.Run, r.Revision, r.Prev = "01JX", 6, r.Digest }))
		}, false, damaged, 6},
		{"a broken chain", func(t *testing.T, l []string) []string {
			return append(l, forged(t, l[4], func(r *journal.Record) { r.Revision = 6 }))
		}, false, damaged, 6},
		{"two records of one revision", func(t *testing.T, l []string) []string {
			return append(l, forged(t, l[4], func(r *journal.Record) { r.Actor = "peer" }))
		}, false, twoWriters, 6},
		{"another record at the view's place", func(t *testing.T, l []string) []string {
			l[4] = forged(t, l[4], func(r *journal.Record) { r.Actor = "xx" })
			return l
		}, false, damaged, 5},
		{"an unknown event", func(t *testing.T, l []string) []string {
			return append(l, forged(t, l[4], func(r *journal.Record) {
				r.Revision, r.Prev = 6, r.Digest
				r.Events[0] = []byte(`{"type":"invented"}`)
			}))
		}, false, newer, 6},
		{"an unknown field of an event", func(t *testing.T, l []string) []string {
			return append(l, forged(t, l[4], func(r *journal.Record) {
				r.Revision, r.Prev = 6, r.Digest
				r.Events[0] = []byte(`{"type":"added","by":1,"token":"x","color":"red"}`)
			}))
		}, false, newer, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := five(t)
			text := strings.Join(tt.change(t, lines(t, root)), "")
			must(t, os.WriteFile(runFile(root, 1, "run.events.jsonl"), []byte(text), 0o644))
			if tt.noView {
				must(t, os.Remove(runFile(root, 1, "state.json")))
			}
			before := tree(t, root)
			s, err := real(root).Open(t.Context(), committest.ID(1))
			must(t, err)
			_, readErr := s.Read(t.Context())
			_, commitErr := s.Commit(t.Context(), add("t9"))
			for _, err := range []error{readErr, commitErr} {
				var (
					d *commit.DamagedError
					w *commit.TwoWritersError
					n *commit.NewerFormatError
				)
				switch {
				case errors.As(err, &d) && tt.kind == damaged && d.Line == tt.line && filepath.Base(d.File) == "run.events.jsonl":
				case errors.As(err, &w) && tt.kind == twoWriters && w.Line == tt.line:
				case errors.As(err, &n) && tt.kind == newer && n.Line == tt.line:
				default:
					t.Errorf("error %v", err)
				}
			}
			if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) == 0 {
				t.Errorf("verify %+v, %v", r, err)
			}
			if tt.kind == newer {
				shown := 0
				err := s.Records(t.Context(), 0, func(commit.Record[committest.Event]) error { shown++; return nil })
				if err != nil || shown != 6 {
					t.Errorf("shown %d, %v", shown, err)
				}
			}
			sameTree(t, before, tree(t, root))
			if entries, err := real(root).List(t.Context()); err != nil || len(entries) != 1 {
				t.Errorf("list %v, %v", entries, err)
			}
			if tt.kind != damaged || tt.line != 1 {
				return
			}
			// The index still knows the slug, so it does not get a second run.
			if _, _, err := real(root).Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}}); !errors.As(err, new(*commit.ExistsError)) {
				t.Errorf("a second run: %v", err)
			}
		})
	}
}

// A state file that is not intact is ignored, said, and made again; the
// journal is the truth.
func TestViewIgnored(t *testing.T) {
	tests := map[string]func(view []byte) []byte{
		"missing":       func([]byte) []byte { return nil },
		"empty":         func([]byte) []byte { return []byte{} },
		"cut":           func(v []byte) []byte { return v[:len(v)/2] },
		"zeros":         func(v []byte) []byte { return make([]byte, len(v)) },
		"one bit":       func(v []byte) []byte { v[30] ^= 1; return v },
		"state changed": func(v []byte) []byte { return bytes.Replace(v, []byte(`"count":4`), []byte(`"count":5`), 1) },
		"junk":          func([]byte) []byte { return []byte("not a state") },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			root := five(t)
			path := runFile(root, 1, "state.json")
			good, err := os.ReadFile(path)
			must(t, err)
			if changed := change(bytes.Clone(good)); changed == nil {
				must(t, os.Remove(path))
			} else {
				must(t, os.WriteFile(path, changed, 0o644))
			}
			s := lookup(t, real(root), "a")
			snap := committest.MustRead(t, s)
			if snap.State.Count != 4 || len(snap.Warnings) != 1 || snap.Warnings[0].Code != commit.WarnViewIgnored {
				t.Errorf("read %+v", snap)
			}
			if out, err := s.Commit(t.Context(), add("t4")); err != nil || out.Committed {
				t.Errorf("commit %+v, %v", out, err)
			}
			if made, err := os.ReadFile(path); err != nil || !bytes.Equal(made, good) {
				t.Errorf("made again: %s, %v", made, err)
			}
		})
	}
}

// A view that another version of Evolve made gives no state, but still
// vouches for the journal's length.
func TestViewOfAnotherVersion(t *testing.T) {
	root := five(t)
	cat := commit.NewFiles(root, committest.Counter{V: 2}, &committest.Outside{}, commit.Options{})
	s := lookup(t, cat, "a")
	if snap := committest.MustRead(t, s); snap.State.Count != 4 || len(snap.Warnings) != 1 {
		t.Errorf("read %+v", snap)
	}
	l := lines(t, root)
	must(t, os.WriteFile(runFile(root, 1, "run.events.jsonl"), []byte(strings.Join(l[:4], "")), 0o644))
	if _, err := s.Read(t.Context()); !errors.As(err, new(*commit.DamagedError)) {
		t.Errorf("a line too few: %v", err)
	}
	must(t, os.WriteFile(runFile(root, 1, "run.events.jsonl"), []byte(strings.Join(l, "")), 0o644))
	committest.MustCommit(t, s, add("t5"))
	if snap := committest.MustRead(t, s); len(snap.Warnings) != 0 || snap.State.Count != 5 {
		t.Errorf("after a commit %+v", snap)
	}
}

// A copy of another run's folder under this run's name.
func TestForeignFolder(t *testing.T) {
	root := five(t)
	must(t, os.Rename(filepath.Join(root, "runs", committest.ID(1)), filepath.Join(root, "runs", committest.ID(2))))
	s, err := real(root).Open(t.Context(), committest.ID(2))
	must(t, err)
	if _, err := s.Read(t.Context()); !errors.As(err, new(*commit.DamagedError)) {
		t.Errorf("read: %v", err)
	}
	entries, err := real(root).List(t.Context())
	if err != nil || len(entries) != 1 || entries[0].Err == nil || entries[0].Slug != "a" {
		t.Errorf("list %+v, %v", entries, err)
	}
}

// Damage that one look saw is no finding where there was no time for a second.
func TestVerifyBeforeASecondLook(t *testing.T) {
	mem := withTwo(t)
	must(t, durable.Replace(mem, runFile(memRoot, 1, "run.events.jsonl"), []byte("{}\n"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	looking := false
	s := lookup(t, catalog(&durable.Faulty{Disk: mem, Before: func(_ int, op durable.Op) {
		if looking && op.Kind == "close" && filepath.Base(op.Path) == "run.events.jsonl" {
			cancel()
		}
	}}), "a")
	looking = true
	if r, err := s.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r.Problems, err)
	}
}
