package cursor

import (
	"strings"
	"testing"
)

// P3, P4: what stands in an artifact's place under the lock decides: what it replaces,
// or its own content already, and it is recorded; all else is a conflict that names the
// path, whichever of several files it is about, and nothing of the report is recorded.
func TestArtifactsPlace_P3(t *testing.T) {
	made, other := NewArtifact("docs/a.md", "new", "old digest"), NewArtifact("docs/b.md", "b", Absent)
	for name, tt := range map[string]struct {
		a, b string // what stands there
		at   string // the path in conflict; "": there is none
	}{
		"what they replace":           {"old digest", Absent, ""},
		"their own content":           {made.SHA256, other.SHA256, ""},
		"one of each":                 {made.SHA256, Absent, ""},
		"somebody's edit":             {"theirs", Absent, "docs/a.md"},
		"it was removed":              {Absent, Absent, "docs/a.md"},
		"the content of the other":    {other.SHA256, Absent, "docs/a.md"},
		"the second: somebody's file": {"old digest", "theirs", "docs/b.md"},
		"nobody looked":               {"", Absent, "docs/a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, facts(chain("a", "b")), nil)
			r.ask("ann")
			report := r.own("ann", Success)
			report.Outcome = &Outcome{Result: Success, Artifacts: []Artifact{made, other}}
			r.f.Digests = map[string]string{FileFact(made.Path): tt.a, FileFact(other.Path): tt.b}
			if tt.at != "" {
				if refusal := r.refused(report, ArtifactConflict); !strings.Contains(refusal.Message, tt.at) {
					t.Errorf("it names no path: %s", refusal.Message)
				}
				want(t, "step", r.s.Cursor.Step, "a")
				return
			}
			r.must(report)
			if left := r.s.Unpublished; left == nil || len(left.Paths) != 2 {
				t.Errorf("left to be made: %+v", left)
			}
		})
	}
}
