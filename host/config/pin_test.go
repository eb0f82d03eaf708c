package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pin is written into any way to write the table, and no other byte changes.
func TestWithPin(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	old := strings.Repeat("0", 64)
	for name, c := range map[string]struct{ before, after string }{
		"replaced, comment kept": {
			"# top\nschema = 1\n\n[plugins.lint] # ours\nwasm = \"a.wasm\"   # file\nsha256   = \"" + old + "\"  # pin\nread = []\n",
			"# top\nschema = 1\n\n[plugins.lint] # ours\nwasm = \"a.wasm\"   # file\nsha256   = \"SUM\"  # pin\nread = []\n"},
		"before wasm": {
			"[plugins.lint]\nsha256 = ''\nwasm = 'a'\n",
			"[plugins.lint]\nsha256 = \"SUM\"\nwasm = 'a'\n"},
		"inserted": {
			"[plugins.lint]\n  wasm = \"a\" # x\n  read = []\n[plugins.other]\nwasm = \"b\"\n",
			"[plugins.lint]\n  wasm = \"a\" # x\n  sha256 = \"SUM\"\n  read = []\n[plugins.other]\nwasm = \"b\"\n"},
		"inserted at the end without a line end": {
			"[plugins.lint]\nwasm = \"a\"",
			"[plugins.lint]\nwasm = \"a\"\nsha256 = \"SUM\""},
		"CRLF and a mark": {
			"\ufeffschema = 1\r\n[plugins.lint]\r\nwasm = \"a\"\r\nlog = \"1KiB\"\r\n",
			"\ufeffschema = 1\r\n[plugins.lint]\r\nwasm = \"a\"\r\nsha256 = \"SUM\"\r\nlog = \"1KiB\"\r\n"},
		"CRLF at the end": {
			"[plugins.lint]\r\nwasm = \"a\"",
			"[plugins.lint]\r\nwasm = \"a\"\r\nsha256 = \"SUM\""},
		"CRLF, a bare value": {
			"[plugins.lint]\r\nwasm = \"a\"\r\nsha256 = 5 \r\n",
			"[plugins.lint]\r\nwasm = \"a\"\r\nsha256 = \"SUM\" \r\n"},
		"dotted": {
			"plugins.lint.wasm = 'a'\nplugins.lint.log = '1KiB'\n",
			"plugins.lint.wasm = 'a'\nplugins.lint.sha256 = \"SUM\"\nplugins.lint.log = '1KiB'\n"},
		"dotted on the first line, after a mark": {
			"\ufeffplugins.lint.wasm = 'a'\n",
			"\ufeffplugins.lint.wasm = 'a'\nplugins.lint.sha256 = \"SUM\"\n"},
		"in [plugins]": {
			"[plugins]\nlint.wasm = 'a'\nother.wasm = 'b'\n",
			"[plugins]\nlint.wasm = 'a'\nlint.sha256 = \"SUM\"\nother.wasm = 'b'\n"},
		"inline": {
			"[plugins]\nlint = { wasm = \"a\", read = [] }\n",
			"[plugins]\nlint = { wasm = \"a\", sha256 = \"SUM\", read = [] }\n"},
		"inline, dotted, replaced": {
			"plugins = { lint = { wasm = \"a\", sha256 = '' } }\n",
			"plugins = { lint = { wasm = \"a\", sha256 = \"SUM\" } }\n"},
		"a name in quotes, and look-alikes in texts": {
			"x = '''\n[plugins.lint]\nsha256 = \"no\"\n'''\n[plugins.\"lint\"]\nwasm = '''a'''\n# sha256 = \"commented\"\n",
			"x = '''\n[plugins.lint]\nsha256 = \"no\"\n'''\n[plugins.\"lint\"]\nwasm = '''a'''\nsha256 = \"SUM\"\n# sha256 = \"commented\"\n"},
		"nothing to change": {
			"[plugins.lint]\nwasm = 'a'\nsha256 = \"SUM\"\n", "[plugins.lint]\nwasm = 'a'\nsha256 = \"SUM\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := strings.ReplaceAll(c.before, "SUM", sum), strings.ReplaceAll(c.after, "SUM", sum)
			got, line, err := WithPin([]byte(before), "lint", PinWasm, sum)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if lines := strings.Split(string(got), "\n"); line < 1 || line > len(lines) || !strings.Contains(lines[line-1], sum) {
				t.Errorf("line %d", line)
			}
		})
	}
}

// The pin of a plugin's own folder stands behind the folder's key.
func TestWithPinOfAFolder(t *testing.T) {
	sum, old := strings.Repeat("ab", 32), strings.Repeat("0", 64)
	for before, after := range map[string]string{
		"[plugins.lint]\nwasm = 'a'\nsha256 = '" + old + "'\ndir = 'b' # ours\n": "[plugins.lint]\nwasm = 'a'\nsha256 = '" + old + "'\ndir = 'b' # ours\ndir_sha256 = \"" + sum + "\"\n",
		"[plugins]\nlint = { wasm = 'a', dir = 'b' }\n":                          "[plugins]\nlint = { wasm = 'a', dir = 'b', dir_sha256 = \"" + sum + "\" }\n",
		"[plugins.lint]\ndir_sha256 = 'x'\nwasm = 'a'\ndir = 'b'\n":              "[plugins.lint]\ndir_sha256 = \"" + sum + "\"\nwasm = 'a'\ndir = 'b'\n",
	} {
		got, line, err := WithPin([]byte(before), "lint", PinDir, sum)
		if err != nil || string(got) != after {
			t.Errorf("%q, %v, want %q", got, err, after)
		} else if !strings.Contains(strings.Split(after, "\n")[line-1], sum) {
			t.Errorf("line %d", line)
		}
	}
	var missing *NotFoundError
	if _, _, err := WithPin([]byte("[plugins.lint]\nwasm = 'a'\n"), "lint", PinDir, sum); !errors.As(err, &missing) {
		t.Error(err)
	}
}

func TestWithPinNeedsATable(t *testing.T) {
	for _, text := range []string{"", "schema = 1\n", "[plugins.other]\nwasm = 'a'\n", "[plugins.lint]\n", "x = '''\n[plugins.lint]\nwasm = 1\n'''"} {
		var missing *NotFoundError
		if _, _, err := WithPin([]byte(text), "lint", PinWasm, strings.Repeat("0", 64)); !errors.As(err, &missing) {
			t.Errorf("%q: %v", text, err)
		}
	}
	var invalid *InvalidError
	if _, _, err := WithPin([]byte("[plugins.lint"), "lint", PinWasm, ""); !errors.As(err, &invalid) {
		t.Error(err)
	}
}

// FuzzWithPin: whatever the text, a pin that was written is the only change.
func FuzzWithPin(f *testing.F) {
	for _, seed := range []string{"[plugins.lint]\nwasm='a'\n", "plugins = { lint = { wasm = \"a\" } }", "[plugins]\r\nlint.wasm = \"\"\"\r\na\"\"\" # x\r\n"} {
		f.Add(seed)
	}
	sum := strings.Repeat("ab", 32)
	f.Fuzz(func(t *testing.T, text string) {
		out, _, err := WithPin([]byte(text), "lint", PinWasm, sum)
		if err != nil {
			return
		}
		again, _, err := WithPin(out, "lint", PinWasm, sum)
		if err != nil || string(again) != string(out) {
			t.Errorf("pinned again %q becomes %q, %v", out, again, err)
		}
	})
}

// What is wrong with a pin is nothing for who writes pins; all else is.
func TestLoadUnpinned(t *testing.T) {
	root := project(t, map[string]string{FileName: "schema = 1\n[plugins.a]\nwasm = \"a\"\n[plugins.b]\nwasm = \"b\"\nsha256 = \"short\"\n[plugins.c]\nwasm = \"c\"\nsha256 = 5\n"})
	cfg, err := LoadUnpinned(root)
	if err != nil || len(cfg.Plugins) != 3 {
		t.Errorf("%v, %v", cfg, err)
	}
	if _, err := Load(root); err == nil {
		t.Error("Load takes plugins without pins")
	}
	root = project(t, map[string]string{FileName: "schema = 1\n[plugins.a]\nwasm = \"a\"\nwat = 1\n"})
	var invalid *InvalidError
	if _, err := LoadUnpinned(root); !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
		t.Error(err)
	}
	if _, err := LoadUnpinned(t.TempDir()); err == nil {
		t.Error("no project, no error")
	}
}
