// Package steprunner holds the tests of rules that hold for the whole
// repository: who may import whom, and where locks may be taken.
package steprunner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/spec-kitty/step-runner/"

// sources are the parsed Go files of the repository, by package folder. Files
// for all platforms count; test files are kept apart.
type sources struct {
	files map[string][]*ast.File
	tests map[string][]*ast.File
	set   *token.FileSet
}

func parseAll(t *testing.T) sources {
	t.Helper()
	src, err := parsed()
	if err != nil || len(src.files) < 10 {
		t.Fatalf("%d packages: %v", len(src.files), err)
	}
	return src
}

// parsed reads the repository once for all tests.
var parsed = sync.OnceValues(func() (sources, error) {
	src := sources{files: map[string][]*ast.File{}, tests: map[string][]*ast.File{}, set: token.NewFileSet()}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (name != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(src.set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		if strings.HasSuffix(name, "_test.go") {
			src.tests[folder] = append(src.tests[folder], file)
		} else {
			src.files[folder] = append(src.files[folder], file)
		}
		return nil
	})
	return src, err
})

func imports(files []*ast.File) []string {
	var all []string
	for _, file := range files {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			all = append(all, name)
		}
	}
	return all
}

// reach are our own packages that a package imports, however far.
func (s sources) reach(folder string, into map[string]bool) {
	for _, name := range imports(s.files[folder]) {
		own, ok := strings.CutPrefix(name, module)
		if ok && !into[own] {
			into[own] = true
			s.reach(own, into)
		}
	}
}

func matches(pattern, folder string) bool {
	if whole, ok := strings.CutSuffix(pattern, "/*"); ok {
		return folder == whole || strings.HasPrefix(folder, whole+"/")
	}
	return folder == pattern || strings.HasPrefix(folder, pattern+"/")
}

// C-001: who may not reach whom. There are no exceptions.
func TestImportRules_C001(t *testing.T) {
	rules := []struct{ packages, forbidden []string }{
		{[]string{"host/commit", "kernel/*"}, []string{"host/sandbox", "host/command", "host/guard", "host/worktree", "host/runner", "host/tick"}},
		{[]string{"host/sandbox", "host/command", "host/guard", "host/lanes", "host/worktree", "host/scheduler"}, []string{"host/commit", "kernel/locks"}},
		{[]string{"host/cursor", "host/loop", "host/mission"}, []string{"kernel"}},
		{[]string{"kernel/*"}, []string{"host", "plugins", "cmd"}},
		{[]string{"plugins/*"}, []string{"host", "kernel", "cmd"}},
	}
	src := parseAll(t)
	for _, rule := range rules {
		for folder := range src.files {
			if !slices.ContainsFunc(rule.packages, func(p string) bool { return matches(p, folder) }) {
				continue
			}
			reached := map[string]bool{}
			src.reach(folder, reached)
			for own := range reached {
				if slices.ContainsFunc(rule.forbidden, func(f string) bool { return matches(f, own) }) {
					t.Errorf("%s reaches %s", folder, own)
				}
			}
		}
	}
}

// P6: the state machines and the definitions are pure.
func TestPurePackages(t *testing.T) {
	src := parseAll(t)
	for _, folder := range []string{"host/cursor", "host/loop", "host/mission", "host/simulate", "host/graph", "host/schedule"} {
		for _, name := range imports(src.files[folder]) {
			if name == "os" || name == "net" || strings.HasPrefix(name, "os/") || strings.HasPrefix(name, "net/") ||
				strings.HasPrefix(name, "math/rand") || name == "crypto/rand" || name == "syscall" {
				t.Errorf("%s imports %s", folder, name)
			}
		}
		for _, use := range src.calls(src.files[folder]) {
			if use.name == "time.Now" || use.name == "time.Since" || use.name == "time.Until" {
				t.Errorf("%s: %s", use.at, use.name)
			}
		}
	}
}

type use struct{ name, at string }

// calls are the uses of other packages' names, as package.Name.
func (s sources) calls(files []*ast.File) []use {
	var all []use
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					all = append(all, use{pkg.Name + "." + sel.Sel.Name, s.set.Position(sel.Pos()).String()})
				}
			}
			return true
		})
	}
	return all
}

// NFR-003, R6: all locking between processes goes through kernel/locks, and so
// through one small library. Tests and tools are no exception.
func TestOneLockPrimitive_NFR003(t *testing.T) {
	src := parseAll(t)
	banned := []string{"Flock", "FcntlFlock", "FcntlInt", "LockFileEx", "LockFile", "F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW", "LOCK_EX", "LOCK_SH"}
	found := false
	for folder := range union(src.files, src.tests) {
		files := slices.Concat(src.files[folder], src.tests[folder])
		for _, name := range imports(files) {
			if !strings.HasPrefix(name, "github.com/gofrs/flock") && !strings.Contains(path.Base(name), "flock") {
				continue
			}
			if found = true; folder != "kernel/locks" {
				t.Errorf("%s imports %s", folder, name)
			}
		}
		for _, use := range src.calls(files) {
			pkg, name, _ := strings.Cut(use.name, ".")
			if (pkg == "syscall" || pkg == "unix" || pkg == "windows") && slices.Contains(banned, name) {
				t.Errorf("%s: %s", use.at, use.name)
			}
		}
	}
	if !found {
		t.Error("the lock primitive was not found: the test looks in the wrong place")
	}
}

func union(a, b map[string][]*ast.File) map[string]bool {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// Every package says what it promises.
func TestPackageComments(t *testing.T) {
	src := parseAll(t)
	for folder, files := range src.files {
		documented := slices.ContainsFunc(files, func(f *ast.File) bool { return f.Doc != nil && len(f.Doc.Text()) > 60 })
		if !documented {
			t.Errorf("%s has no package comment", folder)
		}
	}
}

// No goroutine leaks: whichever package starts goroutines or processes, in its
// tests too, has tests that end with a look at what still runs.
func TestLeaksAreLookedFor(t *testing.T) {
	src := parseAll(t)
	for folder, tests := range src.tests {
		all := slices.Concat(src.files[folder], tests)
		if src.starts(all) && !slices.Contains(imports(tests), "go.uber.org/goleak") {
			t.Errorf("%s starts goroutines or processes, and no TestMain looks for those that are left (goleak)", folder)
		}
	}
}

// starts tells whether files start goroutines or processes.
func (s sources) starts(files []*ast.File) bool {
	for _, file := range files {
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				found = found || ok && slices.Contains([]string{"Go", "StartProcess", "CommandContext", "AfterFunc"}, sel.Sel.Name)
			}
			return !found
		})
		if found {
			return true
		}
	}
	return slices.Contains(imports(files), "os/exec")
}

// testsIn are the tests of a file, by name.
func testsIn(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
