package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// constants are the texts of the constants of a package that have a type, by the
// type's name without its package; "" are those without one.
func constants(t *testing.T, folder string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	found := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			lit, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			of := ""
			switch typ := spec.Type.(type) {
			case *ast.Ident:
				of = typ.Name
			case *ast.SelectorExpr:
				of = typ.Sel.Name
			}
			if !strings.HasPrefix(spec.Names[0].Name, "Skip") {
				found[of] = append(found[of], text)
			}
			return true
		})
	}
	return found
}

// Every reason code of a refusal is listed, and no other.
func TestLoopRefusalsAreListed(t *testing.T) {
	want := append(constants(t, "../host/loop")["Code"], constants(t, "../host/tick")["Code"]...)
	want = append(want, "loop_gone", "lock_timeout", "commit_uncertain", "git", "worktree_busy", "branch_checked_out", "branch_locked", "base_missing")
	var listed []string
	for _, r := range tables(t, "loops.md")["loop refusals"] {
		for _, code := range strings.Split(r.cells[0], ",") {
			listed = append(listed, strings.Trim(code, "` "))
		}
	}
	slices.Sort(want)
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Compact(want), listed); diff != "" {
		t.Errorf("loops.md: reason codes, - as they are, + as listed:\n%s", diff)
	}
}

// Every variable that a loop's programs are told is listed, and no other.
func TestLoopVariablesAreListed(t *testing.T) {
	var told []string
	for _, name := range []string{"program.go", "notify.go", "host.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../host/tick/"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, `"SPEC_KITTY_`) {
				told = append(told, strings.Trim(lit.Value, `"`))
			}
			return true
		})
	}
	listed := column(tables(t, "loops.md")["loop variables"], 0)
	slices.Sort(told)
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Compact(told), listed); diff != "" {
		t.Errorf("loops.md: variables, - as they are, + as listed:\n%s", diff)
	}
}
