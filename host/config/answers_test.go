package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.toml")
	for text, want := range map[string]map[string][]string{
		"":               {},
		`owner = "kim"`:  {"owner": {"kim"}},
		`empty = []`:     {"empty": nil},
		"\ufeffa = 'x'":  {"a": {"x"}},
		"a = \"x\"\r\n":  {"a": {"x"}},
		`"input:db"='p'`: {"input:db": {"p"}},
		`"audit:release" = ["reject", "approve"]`: {"audit:release": {"reject", "approve"}},
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := LoadAnswers(file)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// Field case 45: all that is wrong comes out at once, with its line.
func TestBadAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.toml")
	for text, want := range map[string][]string{
		"a = 3\nb = [\"x\", 4]\nc = { d = \"e\" }\nf = true\n": {
			":1: a: text in quotes, or a list of texts, was expected, not a whole number",
			":2: b[1]: text in quotes was expected, not a whole number",
			":3: c: text in quotes, or a list of texts, was expected, not a table",
			":4: f: text in quotes, or a list of texts, was expected, not true or false"},
		"a = ": {":1: "}, "x = \"\xff\"": {"is not UTF-8"}, strings.Repeat("[", 200): {"brackets in one another"},
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := LoadAnswers(file)
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q", text, err, part)
			}
		}
	}
	if _, err := LoadAnswers(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := LoadAnswers(t.TempDir()); err == nil {
		t.Error("a folder was read as answers")
	}
}
