package plugins

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Every answer that the page shows is one that the host takes.
func TestAnswersOnThePage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, block := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		switch {
		case strings.Contains(text, `"verdict"`):
			_, err = abi.DecodeGuard([]byte(text))
		case strings.Contains(text, `"outcome"`):
			_, err = abi.DecodeExecute([]byte(text))
		case strings.Contains(text, `"verbs"`):
			_, err = abi.DecodeDescribe([]byte(text))
		default:
			continue
		}
		shown++
		if err != nil {
			t.Errorf("block %d: %v", i+1, err)
		}
	}
	if shown != 5 {
		t.Errorf("%d answers on the page, want 5", shown)
	}
}

// The guard in Go that the page shows compiles against the SDK.
func TestGoOnThePage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```go\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the page has no Go")
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "page.go", "package main\nimport (\n\"os\"\n\"github.com/spec-kitty/step-runner/plugins/sdk/go/guest\"\n)\n"+text, 0)
	if err != nil {
		t.Fatal(err)
	}
	checker := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := checker.Check("page", fset, []*ast.File{file}, nil); err != nil {
		t.Error(err)
	}
}
