package importer_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/spec-kitty/step-runner/host/importer"
)

// FuzzImport: no bytes make the importer panic or work for long; what it refuses
// it places; what it accepts passes the check of definitions, and is TOML.
func FuzzImport(f *testing.F) {
	for _, yaml := range []string{
		"key: m\nsteps:\n  - {id: a, title: A, depends_on: [], x: {y: [1, ~]}}\n  - {id: implement, prompt: 'x'}\n  - {id: review}\n",
		"mission: {key: m}\nsteps: &s [{id: a, <<: &b {title: \"\\x07\"}}]\nother: *s\naudit_steps: [{id: b, audit: {enforcement: blocking}}]\n",
		"a: &a [*a]\n? [x]\n: y\n", "key: 'a\n", "\ufeffkey: m\r\nsteps: [{id: done, description: \"a\\u2028\\\"\\\"\\\"\"}]\r\n",
	} {
		f.Add([]byte(yaml), []byte("states: [{name: a}]\ntransitions: [{source: a, dest: b, conditions: ['artifact_exists(\"x\")']}]\n"), []byte("required_always: []\n"))
	}
	seeds, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range seeds {
		runtime, err1 := os.ReadFile(filepath.Join(dir, "mission-runtime.yaml"))
		machine, err2 := os.ReadFile(filepath.Join(dir, "mission.yaml"))
		if err := errors.Join(err1, err2); err != nil {
			f.Fatal(err)
		}
		f.Add(runtime, machine, []byte(nil))
		f.Add(machine, []byte(nil), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, runtime, machine, artifacts []byte) {
		src := importer.Source{Definition: importer.File{Name: "a", Data: runtime}, Folder: "m", Prompts: []fs.FS{fstest.MapFS{"a.md": {Data: runtime}}}}
		if len(machine) > 0 {
			src.Machine = importer.File{Name: "b", Data: machine}
		}
		if len(artifacts) > 0 {
			src.Artifacts = importer.File{Name: "c", Data: artifacts}
		}
		began := time.Now()
		got, err := importer.Import(src)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
		var refused *importer.RefusedError
		switch {
		case errors.As(err, &refused):
			for _, p := range refused.Problems {
				if p.File == "" || p.Message == "" || p.Line < 0 || p.Line > 0 && p.Column < 1 {
					t.Errorf("%+v", p)
				}
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		if problems := got.Definition.Check(); len(problems) > 0 {
			t.Errorf("accepted, but %v", problems)
		}
		if _, err := toml.NewDecoder(bytes.NewReader(got.Files[0].Data)).Decode(new(map[string]any)); err != nil {
			t.Fatalf("%v\n%s", err, got.Files[0].Data)
		}
		valid(t, got)
	})
}
