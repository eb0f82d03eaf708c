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
		"at the bound": nested(100, "[", "]"),
		"in texts":     strings.Repeat("# [[\n", 200) + "a = \"" + strings.Repeat("[", 200) + "\"\nb = \"\"\"" + strings.Repeat("{\\\"", 200) + "\"\"\"\nc = '" + strings.Repeat("[", 200) + "'",
		"side by side": strings.Repeat("[[a]]\nb = [{c = [1]}]\n", 200),
	} {
		if _, _, err := parse("x.toml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
