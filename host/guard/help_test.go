package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

// folder makes a mission's folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func artifact(dir string, g mission.ArtifactGuard) guard.Result {
	return guard.Artifact(guard.Folder{Dir: dir}, g)
}

// want looks at a verdict and for words in its sentence; a verdict that is no
// pass also says what to do.
func want(t *testing.T, r guard.Result, verdict guard.Verdict, words ...string) {
	t.Helper()
	if r.Verdict != verdict {
		t.Errorf("verdict %s, want %s: %s", r.Verdict, verdict, r.Sentence())
	}
	for _, word := range words {
		if !strings.Contains(r.Sentence(), word) {
			t.Errorf("%q does not say %q", r.Sentence(), word)
		}
	}
	if r.Guard == "" || r.Expected == "" || r.Examined == "" || (r.Fix == "") != (verdict == guard.Allow) {
		t.Errorf("parts are missing: %+v", r)
	}
}
