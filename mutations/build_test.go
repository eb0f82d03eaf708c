package mutations

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/spec-kitty/step-runner"

// edited are the texts of the files that a mutation changes, by their names.
func (m mutation) edited(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range m.edits {
		text, ok := texts[e.file]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s: %s has the text %q %d times: mend the mutation", m.name, e.file, e.old, n)
		}
		texts[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return texts, nil
}

// woven are the texts of all files with all mutations in them, and of the files that
// choose among them.
func woven(root string) (map[string]string, error) {
	mutated := map[string]map[string]string{} // by file, then by mutation
	for i, m := range table {
		texts, err := m.edited(root)
		if err != nil {
			return nil, err
		}
		for file, text := range texts {
			if mutated[file] == nil {
				mutated[file] = map[string]string{}
			}
			mutated[file][id(i)] = text
		}
	}
	all := map[string]string{}
	for file, by := range mutated {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		if all[file], err = weave(file, string(raw), by); err != nil {
			return nil, err
		}
		all[path.Join(path.Dir(file), "mutation_chosen.go")] = choice(path.Dir(file))
	}
	return all, nil
}

func id(i int) string { return fmt.Sprintf("%02d", i) }

// programs are the tests of packages with all mutations in them.
type programs struct {
	root    string
	dir     string // where they lie, each by its package's last name
	overlay string
}

// build builds the tests of the packages, each package compiled once.
func build(t *testing.T, root string, packages []string) programs {
	t.Helper()
	texts, err := woven(root)
	if err != nil {
		t.Fatal(err)
	}
	p := programs{root: root, dir: t.TempDir()}
	replace := map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(texts)) {
		name := filepath.Join(p.dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(name, []byte(texts[file]), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = name
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	p.overlay = filepath.Join(p.dir, "overlay.json")
	if err := os.WriteFile(p.overlay, list, 0o644); err != nil {
		t.Fatal(err)
	}
	p.link(t, packages, "")
	return p
}

// link links the tests of the packages.
func (p programs) link(t *testing.T, packages []string, flags string) {
	t.Helper()
	args := []string{"test", "-c", "-vet=off", "-overlay=" + p.overlay, "-ldflags=" + flags, "-o", p.dir + string(filepath.Separator)}
	for _, folder := range packages {
		args = append(args, "./"+folder)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutations do not build: %v\n%s", err, out)
	}
}

// with are the programs that a mutation is tried with: the same, or for one whose code
// runs in children without the environment its own.
func (p programs) with(t *testing.T, m mutation, id string) programs {
	t.Helper()
	if !m.inChild {
		return p
	}
	p.dir = t.TempDir()
	var packages, flags []string
	for _, r := range m.red {
		packages = append(packages, r.folder)
	}
	for _, e := range m.edits {
		flags = append(flags, fmt.Sprintf("-X %s/%s.%s=%s", module, path.Dir(e.file), linked, id))
	}
	p.link(t, packages, strings.Join(flags, " "))
	return p
}
