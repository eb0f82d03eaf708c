package sdk

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// What an author copies is whole: it wants nothing but its language's own library.
func TestFilesWantNothingElse(t *testing.T) {
	for lang, want := range map[string]string{"go": "guest/guest.go", "rust": "plugin.rs", "assemblyscript": "plugin.ts"} {
		all := Files(lang)
		if all[want] == nil {
			t.Errorf("%s: no %s in %d files", lang, want, len(all))
		}
		for name, text := range all {
			for _, used := range imports(t, lang, name, string(text)) {
				t.Errorf("%s/%s wants %s", lang, name, used)
			}
		}
	}
	if len(Files("cobol")) > 0 {
		t.Error("there is an SDK in COBOL")
	}
}

// imports are those of a file that are neither of the SDK nor of the language's
// library; in Go fmt and encoding/json are too large as well.
func imports(t *testing.T, lang, name, text string) []string {
	var found []string
	if lang == "go" {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); strings.Contains(path, ".") || path == "fmt" || path == "encoding/json" {
				found = append(found, path)
			}
		}
		return found
	}
	for line := range strings.Lines(text) {
		_, from, isImport := strings.Cut(line, ` from "`)
		used, isUse := strings.CutPrefix(strings.TrimSpace(line), "use ")
		if isImport && !strings.HasPrefix(from, "./") || isUse && !strings.HasPrefix(used, "std::") && !strings.HasPrefix(used, "super::") && !strings.HasPrefix(used, "json::") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
