//go:build unix

package commit_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
)

// What lies in place of a file and is none never makes a call wait: in place
// of the journal or a frozen file it is damage, in place of a view the view is
// ignored and made anew.
func TestNoFileInItsPlace(t *testing.T) {
	kinds := map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
	}
	for kind, put := range kinds {
		for _, name := range []string{"run.events.jsonl", "state.json", "definition.toml", "prompts/p.md", "index/a", "index/.roster"} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				root := filepath.Join(t.TempDir(), "root")
				s, _, err := real(root).Start(t.Context(), "a", committest.New{
					ID: committest.ID(1), First: committest.Open{}, Blobs: map[string][]byte{"definition.toml": []byte("x")}})
				must(t, err)
				_, err = s.Publish("prompts/p.md", []byte("do"))
				must(t, err)
				path := filepath.Join(root, name)
				if filepath.Dir(name) != "index" {
					path = runFile(root, 1, name)
				}
				must(t, os.Remove(path), put(path))
				done := make(chan struct{})
				go func() {
					defer close(done)
					goesOnWithout(t, root, filepath.Base(name))
				}()
				select {
				case <-done:
				case <-time.After(20 * time.Second):
					t.Fatal("it hangs")
				}
			})
		}
	}
}

// goesOnWithout uses a run whose file of the given name is none.
func goesOnWithout(t *testing.T, root, name string) {
	cat := real(root)
	damage := func(what string, err error) {
		if !errors.As(err, new(*commit.DamagedError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s, err := cat.Lookup(t.Context(), "a")
	if err != nil || s.ID() != committest.ID(1) {
		t.Errorf("lookup: %v", err)
		return
	}
	if name == "run.events.jsonl" {
		_, err := s.Read(t.Context())
		damage("read", err)
		_, err = s.Commit(t.Context(), add("t1"))
		damage("commit", err)
		if entries, err := cat.List(t.Context()); err != nil || len(entries) != 1 || entries[0].Slug != "a" || entries[0].Err == nil {
			t.Errorf("list: %v, %v", entries, err)
		}
	} else {
		if snap, err := s.Read(t.Context()); err != nil || len(snap.Warnings) > 0 != (name == "state.json") {
			t.Errorf("read: %+v, %v", snap, err)
		}
		if out, err := s.Commit(t.Context(), add("t1")); err != nil || !out.Committed {
			t.Errorf("commit: %+v, %v", out, err)
		}
	}
	if name == "definition.toml" {
		_, err := s.Blob(name)
		damage("frozen file", err)
	}
	if _, ok := s.Locate("prompts/p.md"); ok != (name != "p.md") {
		t.Errorf("located %v", ok)
	}
	var exists *commit.ExistsError
	_, _, err = cat.Start(t.Context(), "a", committest.New{ID: committest.ID(2), First: committest.Open{}})
	if !errors.As(err, &exists) || exists.ID != committest.ID(1) {
		t.Errorf("start: %v", err)
	}
	if out, err := lookup(t, cat, "a").Read(t.Context()); err == nil && len(out.Warnings) > 0 && name != "state.json" {
		t.Errorf("warnings stay: %v", out.Warnings)
	}
	_, _, err = cat.Start(t.Context(), "b", committest.New{ID: committest.ID(3), First: committest.Open{}})
	if err != nil {
		t.Errorf("another's start: %v", err)
	}
}

// A pipe in the place of owner.json is damage too, and nobody waits for it.
func TestPipeInPlaceOfTheOwner(t *testing.T) {
	root := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(root, "owner.json"), 0o644))
	if err := commit.CheckOwner(nil, root, "/p/one"); !errors.As(err, new(*commit.DamagedError)) {
		t.Error(err)
	}
}
