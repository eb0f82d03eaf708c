package mutations

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	all  = flag.Bool("all", false, "try every mutation, not only the parts that SC-003 names")
	rest = flag.Bool("rest", false, "try those that are not tried by default, some at a time")
)

// mutation is one part taken out.
type mutation struct {
	name  string
	sc003 string // the half of SC-003 that it is; "" for others
	edits []edit
	red   []red

	inChild bool // its code runs in a process that has no environment
}

// edit replaces a text that stands exactly once in a file, within a function's body,
// or adds a declaration.
type edit struct{ file, old, new string }

// red are tests of a package that must fail.
type red struct {
	folder string
	tests  []string
}

// tried tells whether this run tries it.
func (m mutation) tried() bool {
	if *rest {
		return m.sc003 == ""
	}
	return m.sc003 != "" || *all
}

// SC-003: each part alone is pinned. Without a mutation the same programs are green:
// what turns red does so by the mutation alone.
func TestMutationsTurnTestsRed_SC003(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	judges := map[string][]string{}
	for _, m := range table {
		for _, r := range m.red {
			if m.tried() {
				judges[r.folder] = append(judges[r.folder], r.tests...)
			}
		}
	}
	programs := build(t, root, slices.Sorted(maps.Keys(judges)))
	for folder, tests := range judges {
		slices.Sort(tests)
		r := red{folder, slices.Compact(tests)}
		t.Run("none of "+folder, func(t *testing.T) {
			t.Parallel()
			r.mustPass(t, programs)
		})
	}
	for i, m := range table {
		if !m.tried() {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			if *rest {
				t.Parallel() // the others race processes, which need the processors
			}
			with := programs.with(t, m, id(i))
			for _, r := range m.red {
				r.mustFail(t, with, id(i))
			}
		})
	}
}

func (r red) mustPass(t *testing.T, p programs) {
	t.Helper()
	if out, err := r.run(t, p, ""); err != nil {
		t.Errorf("%s is red without any mutation: %v\n%s", r.folder, err, out)
	}
}

// mustFail runs tests with a mutation. They must fail, each by its name.
func (r red) mustFail(t *testing.T, p programs, id string) {
	t.Helper()
	out, err := r.run(t, p, id)
	if err == nil {
		t.Fatalf("%s stays green without it: %v", r.folder, r.tests)
	}
	for _, name := range r.tests {
		if !bytes.Contains(out, []byte("--- FAIL: "+name+" ")) && !bytes.Contains(out, []byte("panic: ")) {
			t.Errorf("%s: %s stays green without it:\n%s", r.folder, name, out)
		}
	}
}

// run runs the tests as the go command does, in their folder.
func (r red) run(t *testing.T, p programs, id string) ([]byte, error) {
	t.Helper()
	args := []string{"-test.paniconexit0", "-test.timeout=120s", "-test.run=^(" + strings.Join(r.tests, "|") + ")$"}
	if r.usesRapid(t, p.root) {
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=10ms") // the failure is wanted here, nobody reads it
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, path.Base(r.folder)+".test"), args...)
	cmd.Dir = filepath.Join(p.root, filepath.FromSlash(r.folder))
	cmd.Env = append(os.Environ(), variable+"="+id)
	cmd.WaitDelay = 5 * time.Second // what a test has started may have its output
	return cmd.CombinedOutput()
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
	if _, err := woven(".."); err != nil {
		t.Error(err)
	}
}
