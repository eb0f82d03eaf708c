package config

import (
	"errors"
	"strings"
	"testing"
)

// TestParseDeep: nesting is bounded before the library follows it, and brackets
// in texts and comments do not count.
func TestParseDeep(t *testing.T) {
	nested := func(n int, open, end string) string {
		return "a = " + strings.Repeat(open, n) + "1" + strings.Repeat(end, n)
	}
	for name, text := range map[string]string{
		"lists":           "\n" + nested(101, "[", "]"),
		"tables":          "\n" + nested(101, "{a=", "}"),
		"never closed":    "\na = " + strings.Repeat("[", 1_000_000),
		"behind comments": "\n" + nested(101, "[ # ]]\n", "]"),
	} {
		_, _, err := parse("x.toml", []byte(text))
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.HasSuffix(err.Error(), ": more than 100 brackets in one another") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"a key":           "\na" + strings.Repeat(".a", 300_000) + " = 1",
		"a table's":       "\n[a" + strings.Repeat(" . \"a\"", 300_000) + "]",
		"in a table":      "\nx = { b = 1.5, a" + strings.Repeat(".a", 101) + " = 1 }",
		"behind a string": "\nx = { b = \"" + strings.Repeat("x.", 101) + "\", a" + strings.Repeat(".'a'", 101) + " = 1 }",
	} {
		_, _, err := parse("x.toml", []byte(text))
		if err == nil || !strings.HasSuffix(err.Error(), "x.toml:2: more than 100 dots in one key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"a key at the bound": "a" + strings.Repeat(".a", 100) + " = 1",
		"dots in texts":      "a = \"" + strings.Repeat(".", 200) + "\" # " + strings.Repeat(".", 200) + "\nb = [" + strings.Repeat("1.5, ", 200) + "]",
		"at the bound":       nested(100, "[", "]"),
		"in texts":           strings.Repeat("# [[\n", 200) + "a = \"" + strings.Repeat("[", 200) + "\"\nb = \"\"\"" + strings.Repeat("{\\\"", 200) + "\"\"\"\nc = '" + strings.Repeat("[", 200) + "'",
		"side by side":       strings.Repeat("[[a]]\nb = [{c = [1]}]\n", 200),
	} {
		if _, _, err := parse("x.toml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
