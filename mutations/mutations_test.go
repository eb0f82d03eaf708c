package mutations

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	all  = flag.Bool("all", false, "try every mutation, not only the parts that SC-003 names")
	rest = flag.Bool("rest", false, "try those that are not tried by default, two at a time")
)

// mutation is one part taken out.
type mutation struct {
	name  string
	sc003 string // the half of SC-003 that it is; "" for others
	edits []edit
	red   []red
}

// edit replaces a text that stands exactly once in a file.
type edit struct{ file, old, new string }

// red are tests of a package that must fail.
type red struct {
	folder string
	tests  []string
}

// SC-003: each part alone is pinned.
func TestMutationsTurnTestsRed_SC003(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table {
		t.Run(m.name, func(t *testing.T) {
			switch named := m.sc003 != ""; {
			case *rest && named:
				t.Skip("is tried by default")
			case *rest:
				t.Parallel()
			case !named && !*all:
				t.Skip("run with -all")
			}
			overlay := m.overlay(t, root)
			for _, r := range m.red {
				r.mustFail(t, root, overlay)
			}
		})
	}
}

// overlay writes the mutated files and the list of them that the go command
// takes.
func (m mutation) overlay(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	texts := map[string]string{}
	for _, e := range m.edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		text, ok := texts[path]
		if !ok {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			t.Fatalf("%s has the text %q %d times: mend the mutation", e.file, e.old, n)
		}
		texts[path] = strings.Replace(text, e.old, e.new, 1)
		replace[path] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
	}
	for path, text := range texts {
		if err := os.WriteFile(replace[path], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// mustFail runs tests over the overlay. They must be built and fail, each by
// its name: a mutation that does not compile proves nothing.
func (r red) mustFail(t *testing.T, root, overlay string) {
	t.Helper()
	args := []string{"test", "-count=1", "-timeout=120s", "-vet=off", "-overlay=" + overlay,
		"-run=^(" + strings.Join(r.tests, "|") + ")$", "./" + r.folder}
	if r.usesRapid(t, root) {
		args = append(args, "-rapid.nofailfile") // it would keep the failure that is wanted here
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOGC=400") // most of the time goes into the compiler
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%s stays green without it: %v", r.folder, r.tests)
	}
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		t.Fatalf("the mutation does not build:\n%s", out)
	}
	for _, name := range r.tests {
		if !bytes.Contains(out, []byte("--- FAIL: "+name+" ")) && !bytes.Contains(out, []byte("panic: ")) {
			t.Errorf("%s: %s stays green without it:\n%s", r.folder, name, out)
		}
	}
}

// usesRapid tells whether the folder's tests have the flags of rapid.
func (r red) usesRapid(t *testing.T, root string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(r.folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(`"pgregory.net/rapid"`)) {
			return true
		}
	}
	return false
}

// Each mutation still changes exactly what it was written for: code that moved on
// would leave it without effect, or without its meaning.
func TestMutationsFitTheCode(t *testing.T) {
	for _, m := range table {
		for _, e := range m.edits {
			raw, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(e.file)))
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
				continue
			}
			if n := strings.Count(string(raw), e.old); n != 1 {
				t.Errorf("%s: %s has %d times %q", m.name, e.file, n, e.old)
			}
		}
	}
}
