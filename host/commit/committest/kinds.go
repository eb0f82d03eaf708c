package committest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"
)

// Kinds gives the kinds of records that the transitions in a package's folder
// make, as its sources say: each Kind that returns a constant.
func Kinds(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no sources: %v", folder, err)
	}
	var kinds []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if kind, ok := kindOf(decl); ok {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) == 0 {
		t.Fatalf("%s has no transitions", folder)
	}
	return kinds
}

func kindOf(decl ast.Decl) (string, bool) {
	f, ok := decl.(*ast.FuncDecl)
	if !ok || f.Recv == nil || f.Name.Name != "Kind" || len(f.Body.List) != 1 {
		return "", false
	}
	ret, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return "", false
	}
	lit, ok := ret.Results[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	kind, err := strconv.Unquote(lit.Value)
	return kind, err == nil
}
