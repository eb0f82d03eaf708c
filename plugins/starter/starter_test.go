package starter

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each starter is whole: no placeholder is left, and its page names the command
// that builds it.
func TestFiles(t *testing.T) {
	for _, lang := range Languages() {
		tools, command := Build(lang, "my-guard")
		engine, _ := Script(lang)
		if tools == "" || command == "" && engine == "" {
			t.Errorf("%s: %q, %q", lang, tools, command)
		}
		page := ""
		for _, f := range Files(lang, "my-guard") {
			if regexp.MustCompile("PLUGIN-[A-Z]").MatchString(f.Path+string(f.Data)) || strings.HasSuffix(f.Path, ".txt") || !filepath.IsLocal(f.Path) {
				t.Errorf("%s: %s", lang, f.Path)
			}
			if f.Path == "README.md" {
				page = string(f.Data)
			}
		}
		if command == "" {
			command = "spec-kitty plugin check " + engine + " --dir src"
		}
		if !strings.Contains(page, "\n    "+command+"\n") {
			t.Errorf("the page of %s does not say %q", lang, command)
		}
	}
	if Files("cobol", "x") != nil {
		t.Error("there is a starter in COBOL")
	}
}

// A dot in a name begins no table of its own in what the page has people write, and
// no name that a build tool refuses.
func TestDottedName(t *testing.T) {
	for _, lang := range Languages() {
		for _, f := range Files(lang, "a.b") {
			switch text := string(f.Data); f.Path {
			case "README.md":
				if !strings.Contains(text, "\n    [plugins.\"a.b\"]\n") {
					t.Errorf("%s: %s", lang, text)
				}
			case "Cargo.toml":
				if !strings.Contains(text, "name = \"a-b\"") {
					t.Error(text)
				}
			}
		}
	}
}

// The header files of the C starter are those that the examples are built with.
func TestHeadersAreThoseOfTheExamples(t *testing.T) {
	headers, err := filepath.Glob("c/*.h")
	if err != nil || len(headers) != 4 {
		t.Fatalf("%v %v", headers, err)
	}
	for _, name := range headers {
		ours, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join("..", "..", "examples", "plugins", name))
		if err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s differs from examples/plugins/%s (%v): copy it", name, name, err)
		}
	}
}
