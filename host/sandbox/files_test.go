package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero/experimental/sys"
)

// WASI's error numbers, as the guest "files" writes them.
const (
	noEntry   = "!44"
	notPerm   = "!63"
	readOnlyE = "!69"
	notSupp   = "!58"
)

// project makes a tree with what is granted (docs, kitty-specs), what is not,
// and ways out of it.
func project(t *testing.T) (root, outside string) {
	t.Helper()
	top := t.TempDir()
	root, outside = filepath.Join(top, "project"), filepath.Join(top, "outside")
	for name, content := range map[string]string{
		"project/docs/a.md":                     "a",
		"project/docs/sub/b.md":                 "b",
		"project/docs/.git/config":              "git",
		"project/secret.md":                     "secret",
		"project/kitty-specs/034/spec.md":       "spec",
		"project/docs/.kittify/runs/state.json": "state",
		"outside/secret.md":                     "outside",
	} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"docs/good":     "sub/b.md",
		"docs/across":   "../kitty-specs/034/spec.md",
		"docs/hidden":   "../secret.md",
		"docs/relative": "../../outside/secret.md",
		"docs/absolute": filepath.Join(outside, "secret.md"),
		"docs/folder":   "../../outside",
		"docs/state":    ".kittify/runs/state.json",
		"docs/gitlink":  ".git/config",
		"docs/round":    "round",
		"docs/dangling": "nothing.md",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	return root, outside
}

func filesCall(root string) Call {
	c := guardCall()
	c.Mounts = []Mount{{Guest: "/project", Host: root}}
	c.Reads = []string{"/project/docs", "/project/kitty-specs/034"}
	c.Hide = []string{"/project/docs/.kittify"}
	return c
}

// P5: a guest reads what is granted and changes nothing.
func TestGuestSeesOnlyItsGrants(t *testing.T) {
	root, outside := project(t)
	makeFIFO(t, filepath.Join(root, "docs/pipe"))
	before := treeOf(t, filepath.Dir(root))
	h := newHost(t)
	prepared(t, h, plugin(t, "files"))
	for _, c := range []struct{ op, path, want string }{
		{"r", "docs/a.md", "a"},
		{"r", "docs/good", "b"},
		{"r", "docs/across", "spec"},
		{"r", "docs/../docs/a.md", "a"},
		{"r", "kitty-specs/034/spec.md", "spec"},
		{"r", "docs/dangling", noEntry},
		{"r", "docs/none.md", noEntry},
		{"r", "secret.md", noEntry},
		{"s", "secret.md", noEntry},
		{"r", "docs/.git/config", noEntry},
		{"r", "docs/.GIT/config", noEntry},
		{"r", "docs/.kittify/runs/state.json", noEntry},
		{"l", "docs/.kittify", noEntry},
		{"r", "docs/pipe", noEntry},
		{"s", "docs/pipe", noEntry},
		{"r", "docs/hidden", notPerm},
		{"r", "docs/state", notPerm},
		{"r", "docs/gitlink", notPerm},
		{"r", "docs/relative", notPerm},
		{"r", "docs/absolute", notPerm},
		{"r", "docs/folder/secret.md", notPerm},
		{"r", "docs/round", "!32"},
		{"r", "docs/a.md/x", "!54"},
		{"r", "../outside/secret.md", notPerm},
		{"r", "docs/../../outside/secret.md", notPerm},
		{"r", filepath.Join(outside, "secret.md"), notPerm},
		{"r", "/etc/passwd", notPerm},
		{"l", ".", ".\n..\ndocs\nkitty-specs\n"},
		{"l", "kitty-specs", ".\n..\n034\n"},
		{"l", "docs", ".\n..\na.md\nabsolute\nacross\ndangling\nfolder\ngitlink\ngood\nhidden\nrelative\nround\nstate\nsub\n"},
		{"w", "docs/a.md", readOnlyE},
		{"c", "docs/new.md", readOnlyE},
		{"t", "docs/a.md", readOnlyE},
		{"t", "docs/relative", readOnlyE},
		{"m", "docs/new", readOnlyE},
		{"u", "docs/a.md", readOnlyE},
		{"h", "docs/a.md", notSupp},
	} {
		t.Run(c.op+" "+strings.ReplaceAll(c.path, "/", "_"), func(t *testing.T) {
			a, err := h.Call(context.Background(), plugin(t, "files", c.op, c.path), filesCall(root))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(a.Stdout); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if diff := cmp.Diff(before, treeOf(t, filepath.Dir(root))); diff != "" {
		t.Errorf("the tree changed (-before +after):\n%s", diff)
	}
}

// Without grants the mounts are empty folders.
func TestNoGrantNoFile(t *testing.T) {
	root, _ := project(t)
	h := newHost(t)
	c := filesCall(root)
	c.Reads, c.Hide = nil, nil
	for _, op := range [][2]string{{"r", "docs/a.md"}, {"l", "docs"}, {"l", "."}} {
		a, err := h.Call(context.Background(), plugin(t, "files", op[0], op[1]), c)
		want := noEntry
		if op[1] == "." {
			want = ".\n..\n"
		}
		if err != nil || string(a.Stdout) != want {
			t.Errorf("%v gives %q, %v; want %q", op, a.Stdout, err, want)
		}
	}
}

// What a guest saw is told, and found to have changed when it has.
func TestFactsFenceAnAnswer(t *testing.T) {
	root, _ := project(t)
	h := newHost(t)
	for _, c := range []struct {
		name, op, path string
		kind           FactKind
		change         func() error
	}{
		{"content", "r", "docs/a.md", FactFile, func() error {
			return os.WriteFile(filepath.Join(root, "docs/a.md"), []byte("A"), 0o644)
		}},
		{"link", "r", "docs/good", FactFile, func() error {
			return os.WriteFile(filepath.Join(root, "docs/sub/b.md"), []byte("B"), 0o644)
		}},
		{"listing", "l", "docs", FactDir, func() error {
			return os.WriteFile(filepath.Join(root, "docs/new.md"), nil, 0o644)
		}},
		{"absence", "r", "docs/later.md", FactAbsent, func() error {
			return os.WriteFile(filepath.Join(root, "docs/later.md"), nil, 0o644)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := filesCall(root)
			a, err := h.Call(context.Background(), plugin(t, "files", c.op, c.path), call)
			if err != nil {
				t.Fatal(err)
			}
			if !hasFact(a.Read, "/project/"+c.path, c.kind) {
				t.Fatalf("no fact of kind %s in %v", c.kind, a.Read)
			}
			if changed, err := call.Changed(a.Read); err != nil || len(changed) > 0 {
				t.Fatalf("unchanged tree: %v, %v", changed, err)
			}
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			changed, err := call.Changed(a.Read)
			if err != nil || !hasFact(changed, "/project/"+c.path, c.kind) {
				t.Fatalf("changed tree: %v, %v", changed, err)
			}
		})
	}
}

func hasFact(facts []Fact, path string, kind FactKind) bool {
	for _, f := range facts {
		if f.Path == path && f.Kind == kind {
			return true
		}
	}
	return false
}

// treeOf is every path with kind, mode and content.
func treeOf(t *testing.T, top string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(b)
		}
		tree[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Descriptors are counted: what a guest leaves open ends at its limit.
func TestOpenFilesAreBounded(t *testing.T) {
	root, _ := project(t)
	d := newDesk(context.Background(), 3, &strings.Builder{})
	v, err := openView(Mount{Guest: "/project", Host: root}, []string{"/project"}, nil, d)
	if err != nil {
		t.Fatal(err)
	}
	defer v.root.Close()
	for range 3 {
		f, errno := v.OpenFile("docs/a.md", 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		defer f.Close()
	}
	if _, errno := v.OpenFile("docs/a.md", 0, 0); errno.Error() != "resource unavailable, try again" {
		t.Errorf("the fourth open: %v", errno)
	}
}

// What is noted stays within what a report can hold, and says so when it does
// not hold all.
func TestFactsAreBounded(t *testing.T) {
	root, _ := project(t)
	for name, paths := range map[string]func(int) string{
		"many": func(i int) string { return fmt.Sprintf("docs/%d", i) },
		"long": func(i int) string {
			return "docs/" + strings.Repeat(strings.Repeat("\x01", 200)+"/", 19) + fmt.Sprint(i)
		},
		"not UTF8": func(int) string { return "docs/\xff" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(context.Background(), 3, &strings.Builder{})
			v, err := openView(Mount{Guest: "/project", Host: root}, []string{"/project"}, nil, d)
			if err != nil {
				t.Fatal(err)
			}
			defer v.root.Close()
			for i := range maxFacts + 10 {
				if d.incomplete {
					break
				}
				_, _ = v.Stat(paths(i))
			}
			b, err := json.Marshal(report{Facts: d.sorted()})
			if err != nil || !d.incomplete || len(b) > maxFrame {
				t.Errorf("%d facts of %d bytes, incomplete %v, %v", len(d.facts), len(b), d.incomplete, err)
			}
			if _, errno := v.Stat(strings.Repeat("x/", maxPath)); errno != sys.ENAMETOOLONG {
				t.Errorf("a long path gives %v", errno)
			}
		})
	}
}

// A grant that is itself a link within the project is what the link leads to.
func TestGrantThroughALink(t *testing.T) {
	root, _ := project(t)
	if err := os.Symlink("kitty-specs", filepath.Join(root, "specs")); err != nil {
		t.Fatal(err)
	}
	c := filesCall(root)
	c.Reads, c.Hide = []string{"/project/specs"}, nil
	a, err := newHost(t).Call(context.Background(), plugin(t, "files", "r", "specs/034/spec.md"), c)
	if err != nil || string(a.Stdout) != "spec" {
		t.Errorf("got %q, %v", a.Stdout, err)
	}
}

// What a mount shows below its folder is reached through no link: neither one
// that leads out nor one to what was not granted.
func TestMountBehindALink_P5(t *testing.T) {
	root, _ := project(t)
	outside := t.TempDir()
	for link, target := range map[string]string{"out": outside, "in": "docs"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	d := newDesk(context.Background(), 3, io.Discard)
	for below, good := range map[string]bool{"docs": true, "kitty-specs/034": true, "out": false, "in": false, "none": false} {
		v, err := openView(Mount{Guest: "/workspace", Host: root, Below: below}, []string{"/workspace"}, nil, d)
		if (err == nil) != good {
			t.Errorf("%s: %v", below, err)
		}
		if err == nil {
			v.root.Close()
		}
	}
}

func TestPathsOfACallAreChecked(t *testing.T) {
	h := newHost(t)
	for _, spoil := range []func(*Call){
		func(c *Call) { c.Mounts[0].Guest = "project" },
		func(c *Call) { c.Mounts[0].Guest = "/" },
		func(c *Call) { c.Reads = []string{"/project/../etc"} },
		func(c *Call) { c.Reads = []string{"/elsewhere"} },
		func(c *Call) { c.Hide = []string{"docs"} },
		func(c *Call) { c.Verb = "destroy" },
		func(c *Call) { c.Request = make([]byte, maxRequest+1) },
	} {
		c := filesCall(t.TempDir())
		spoil(&c)
		_, err := h.Call(context.Background(), plugin(t, "allow"), c)
		mustFail(t, err, ChildFailed)
	}
	if runtime.GOOS != "windows" {
		c := filesCall(filepath.Join(t.TempDir(), "none"))
		_, err := h.Call(context.Background(), plugin(t, "allow"), c)
		mustFail(t, err, ChildFailed)
	}
}
