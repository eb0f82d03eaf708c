package importer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/simulate"
)

const data = "../../../shared/data/definitions"

// folder is a type's folder as a source.
func folder(t *testing.T, dir string) importer.Source {
	t.Helper()
	read := func(name string) importer.File {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return importer.File{}
		}
		if err != nil {
			t.Fatal(err)
		}
		return importer.File{Name: name, Data: text}
	}
	return importer.Source{Definition: read("mission-runtime.yaml"), Machine: read("mission.yaml"), Artifacts: read("expected-artifacts.yaml"),
		Prompts: []fs.FS{os.DirFS(dir)}, Folder: filepath.Base(dir)}
}

// text is a source of one file.
func text(yaml string) importer.Source {
	return importer.Source{Definition: importer.File{Name: "mission.yaml", Data: []byte(yaml)}, Folder: "t"}
}

// imported wants an import that validates as it is written, and to the same
// definition.
func imported(t *testing.T, src importer.Source) *importer.Result {
	t.Helper()
	got, err := importer.Import(src)
	if err != nil {
		t.Fatal(err)
	}
	valid(t, got)
	return got
}

func valid(t *testing.T, got *importer.Result) {
	t.Helper()
	root := t.TempDir()
	files := append(slices.Clone(got.Files), importer.File{Name: "spec-kitty.toml", Data: fmt.Appendf(nil, "schema = 1\n[missions.%q]\nfile = \"mission.toml\"\n", got.Definition.Key)})
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	_, defs, err := config.Validate(root)
	if err != nil {
		t.Fatalf("what was written is not valid: %v\n%s", err, got.Files[0].Data)
	}
	if have, want := defs[got.Definition.Key].Canonical(), got.Definition.Canonical(); string(have) != string(want) {
		t.Fatalf("what was written reads as another definition:\n%s\nnot\n%s\n%s", have, want, got.Files[0].Data)
	}
}

func guardsOf(t *testing.T, def mission.Definition, id string) []string {
	t.Helper()
	pos, ok, err := def.Position(id)
	if err != nil || !ok {
		t.Fatalf("no step %s: %v", id, err)
	}
	names := []string{}
	for _, g := range def.Steps[pos].Guards {
		switch {
		case g.Artifact != nil:
			names = append(names, g.Artifact.Path)
		case g.Event != nil:
			names = append(names, fmt.Sprintf("%d %s", g.Event.Min, g.Event.Type))
		default:
			names = append(names, "input "+g.Input)
		}
	}
	return names
}

// Issue 4 item 2: the two real types import, validate, and can be walked to
// their end; what they do not say anew is not lost in silence.
func TestRealTypes(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		t.Skip("the real types are not here")
	}
	for name, want := range map[string]map[string][]string{
		"software-dev": {"specify": {"spec.md"}, "plan": {"plan.md"}, "tasks": {"tasks.md"}, "implement": {}},
		"research":     {"scoping": {"spec.md"}, "methodology": {"plan.md"}, "gathering": {"3 source_documented"}, "synthesis": {"findings.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := imported(t, folder(t, filepath.Join(data, name)))
			for id, guards := range want {
				if have := guardsOf(t, got.Definition, id); !slices.Equal(have, guards) {
					t.Errorf("%s has the guards %v, not %v", id, have, guards)
				}
			}
			if end := walked(t, got); end != "done" {
				t.Errorf("the walk ends %s", end)
			}
		})
	}
	got := imported(t, folder(t, filepath.Join(data, "software-dev")))
	wantNote(t, got, importer.LeftOut, "mission.yaml", 56, `gate_passed("review_approved")`)
	wantNote(t, got, importer.Changed, "mission.yaml", 57, "from review to implement")
	wantNote(t, got, importer.Stub, "mission-runtime.yaml", 28, "research.md")
	wantNote(t, got, importer.LeftOut, "mission.yaml", 161, "all_tests_pass")
	if got.Definition.Steps[0].Action != "research" {
		t.Errorf("discovery has the action %s", got.Definition.Steps[0].Action)
	}
	if !slices.Equal(got.WithoutGuard, []string{"discovery", "accept"}) {
		t.Errorf("without guard: %v", got.WithoutGuard)
	}
}

// walked is where a walk through what was imported ends.
func walked(t *testing.T, got *importer.Result) string {
	t.Helper()
	index := mission.EncodeIndex(&got.Definition)
	view, err := mission.OpenIndex(bytes.NewReader(index), int64(len(index)))
	if err != nil {
		t.Fatal(err)
	}
	script := simulate.Script{}
	if got.Definition.HasPackages() {
		script.Packages = []simulate.Package{{ID: "WP01", Lane: mission.Planned}, {ID: "WP02", Lane: mission.Planned}}
	}
	path, err := simulate.Walk(context.Background(), view, script)
	if err != nil {
		t.Fatal(err)
	}
	return path.End.State
}

func wantNote(t *testing.T, got *importer.Result, code importer.Code, file string, line int, part string) {
	t.Helper()
	if !slices.ContainsFunc(got.Notes, func(n importer.Note) bool {
		return n.Code == code && n.File == file && n.Line == line && n.Column > 0 && strings.Contains(n.Message, part)
	}) {
		t.Errorf("no note %s at %s:%d with %q among %v", code, file, line, part, got.Notes)
	}
}
