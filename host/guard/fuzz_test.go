package guard_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

// FuzzArtifactPath: no path or pattern reads what lies outside the folder, and
// each ends in one of the three verdicts with a fact for what was looked at.
func FuzzArtifactPath(f *testing.F) {
	for _, seed := range []string{
		"spec.md", "../secret.md", "*/secret.md", "docs/../../secret.md", "..", ".", "", "/", "*", "[a-z]*.md", "[", "docs/*/*.md",
		`..\secret.md`, "docs/[.][.]/secret.md", "?./secret.md", "CON", "a:b", "\xff*",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	inside := filepath.Join(dir, "mission")
	f.Fuzz(func(t *testing.T, path string) {
		write(t, filepath.Join(dir, "secret.md"), "secret")
		write(t, filepath.Join(inside, "docs", "a.md"), "text")
		r := artifact(inside, mission.ArtifactGuard{Path: path, NotContains: "secret"})
		if strings.Contains(r.Examined, "matches secret") || strings.Contains(r.Examined, "secret.md, ") {
			t.Errorf("%q was read outside the folder: %+v", path, r)
		}
		if guard.BadPath(path) != "" && r.Verdict != guard.Failed {
			t.Errorf("%q is bad and was judged: %+v", path, r)
		}
		if r.Verdict == guard.Allow && len(r.Facts) == 0 {
			t.Errorf("%q was allowed without a fact", path)
		}
	})
}
