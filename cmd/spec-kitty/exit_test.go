package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/runner"
)

// TestEveryCodeHasOneExit: each error code of the engine is a block, which is an
// answer, or in exactly one row of the table. No refusal has an exit code of its
// own (FR-005).
func TestEveryCodeHasOneExit(t *testing.T) {
	blocks := enum(t, "answer.schema.json", "reason_code")
	rows := map[string]int{}
	for _, row := range exitTable() {
		for _, code := range row.errors {
			rows[string(code)]++
		}
	}
	for code := range constants(t, "../../host/runner", "../../host/cursor") {
		if n := rows[code]; n > 1 || n == 1 == slices.Contains(blocks, code) {
			t.Errorf("code %s is in %d rows of the exit table; a block: %v", code, n, slices.Contains(blocks, code))
		}
	}
	var known []string
	for code := range rows {
		known = append(known, code)
	}
	documented := enum(t, "error.schema.json", "error_code")
	slices.Sort(known)
	slices.Sort(documented)
	if diff := cmp.Diff(known, documented); diff != "" {
		t.Errorf("codes of the exit table (-) and of error.schema.json (+):\n%s", diff)
	}
}

// TestEveryCodeSaysWhatToDo: an error that says nothing better has what to do from
// its code, and no code sends people to the list of codes.
func TestEveryCodeSaysWhatToDo(t *testing.T) {
	own := []runner.Code{codeInterrupted, codeTerminated, codeOutputFailed} // say it themselves
	for _, row := range exitTable() {
		for _, code := range row.errors {
			next := document(&runner.Error{Code: code, Message: "m"}).NextStep
			if slices.Contains(own, code) {
				continue
			}
			if next == "" || strings.Contains(next, "exit-codes") {
				t.Errorf("%s says to do %q", code, next)
			}
		}
	}
}

// constants are the values of all constants of a type named Code.
func constants(t *testing.T, folders ...string) map[string]bool {
	found := map[string]bool{}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+e.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				collect(d, found)
			}
		}
	}
	if len(found) < 20 {
		t.Fatalf("only %d codes were found", len(found))
	}
	return found
}

func collect(d ast.Decl, found map[string]bool) {
	gen, ok := d.(*ast.GenDecl)
	if !ok || gen.Tok != token.CONST {
		return
	}
	for _, spec := range gen.Specs {
		v := spec.(*ast.ValueSpec)
		if !isCode(v.Type) {
			continue
		}
		if text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err == nil {
			found[text] = true
		}
	}
}

func isCode(typ ast.Expr) bool {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name == "Code"
	case *ast.SelectorExpr:
		return typ.Sel.Name == "Code"
	}
	return false
}

func enum(t *testing.T, file, field string) []string {
	raw, err := os.ReadFile(schemaFolder + "/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties map[string]struct {
			Enum []*string `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, v := range doc.Properties[field].Enum {
		if v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// TestUnknownCodeIsAFault: a code that nobody entered ends as internal, not as
// success.
func TestUnknownCodeIsAFault(t *testing.T) {
	if got := exitOf(runner.Code("never_heard_of")); got != exitInternal {
		t.Errorf("exit code %d, want %d", got, exitInternal)
	}
}
