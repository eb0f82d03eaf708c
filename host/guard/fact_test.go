package guard_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

// changed names the facts of a result that are no longer as they were judged.
func changed(t *testing.T, dir string, r guard.Result) []string {
	t.Helper()
	var names []string
	for _, fact := range r.Facts {
		now, err := guard.Digest(dir, fact.Name)
		if err != nil {
			t.Fatal(err)
		}
		if now != fact.Digest {
			names = append(names, fact.Name)
		}
	}
	return names
}

// FR-001: whatever a guard saw and somebody changes afterwards shows in a fact;
// what it did not look at does not.
func TestFactsShowEveryChange(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	cases := map[string]struct {
		path   string
		change func(t *testing.T, dir string)
		seen   bool
	}{
		"nothing":              {"docs/*.md", func(*testing.T, string) {}, false},
		"another file":         {"spec.md", func(t *testing.T, dir string) { write(t, at(dir, "plan.md"), "new") }, false},
		"the same bytes again": {"spec.md", func(t *testing.T, dir string) { write(t, at(dir, "spec.md"), "text") }, false},
		"other bytes":          {"spec.md", func(t *testing.T, dir string) { write(t, at(dir, "spec.md"), "tEXt") }, true},
		"removed":              {"spec.md", func(t *testing.T, dir string) { os.Remove(at(dir, "spec.md")) }, true},
		"written":              {"plan.md", func(t *testing.T, dir string) { write(t, at(dir, "plan.md"), "new") }, true},
		"the folder removed":   {"spec.md", func(t *testing.T, dir string) { os.RemoveAll(dir) }, true},
		"one that fits":        {"docs/*.md", func(t *testing.T, dir string) { write(t, at(dir, "docs/c.md"), "new") }, true},
		"one that fits not":    {"docs/*.md", func(t *testing.T, dir string) { write(t, at(dir, "docs/c.txt"), "new") }, false},
		"one that fitted":      {"docs/*.md", func(t *testing.T, dir string) { os.Remove(at(dir, "docs/a.md")) }, true},
		"one of many":          {"docs/*.md", func(t *testing.T, dir string) { write(t, at(dir, "docs/b.md"), "changed") }, true},
		"renamed":              {"docs/*.md", func(t *testing.T, dir string) { os.Rename(at(dir, "docs/b.md"), at(dir, "docs/c.md")) }, true},
		"a folder in its place": {"spec.md", func(t *testing.T, dir string) {
			os.Remove(at(dir, "spec.md"))
			write(t, at(dir, "spec.md/x"), "x")
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"spec.md": "text", "docs/a.md": "a", "docs/b.md": "b"})
			r := artifact(dir, mission.ArtifactGuard{Path: c.path})
			if len(r.Facts) == 0 {
				t.Fatal("no facts")
			}
			c.change(t, dir)
			if names := changed(t, dir, r); (len(names) > 0) != c.seen {
				t.Errorf("changed facts %q, want seen %t", names, c.seen)
			}
		})
	}
}

func TestUnknownFact(t *testing.T) {
	for _, name := range []string{"", "spec.md", "lanes:x", "ARTIFACT:spec.md"} {
		_, err := guard.Digest(t.TempDir(), name)
		var unknown *guard.UnknownFactError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: %v, want an unknown fact", name, err)
		}
	}
}
