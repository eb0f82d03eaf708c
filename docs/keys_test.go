package docs_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
)

// place is a table of the TOML: where it stands, and which lines it must have to
// be valid.
type place struct {
	before string            // the file up to the table's own lines
	base   map[string]string // lines of a valid table, by key
	after  string
	inFile bool // the text is a definition's file
	inLoop bool // the text is a loop's file
}

const (
	minimal  = "schema = 1\n[missions.m]\n"
	oneStep  = minimal + "[[missions.m.steps]]\nid = \"a\"\n"
	lint     = "[plugins.lint]\n" + `wasm = "lint.wasm"` + "\n" + `sha256 = "` + zeros + `"` + "\n"
	zeros    = "0000000000000000000000000000000000000000000000000000000000000000"
	noPrompt = `prompt = "Do it"`
)

// places are the tables that missions.md lists, by the names in its markers.
func places() map[string]place {
	line := func(lines ...string) map[string]string {
		all := map[string]string{}
		for _, l := range lines {
			key, _, _ := strings.Cut(l, " ")
			all[key] = l
		}
		return all
	}
	return withLoops(map[string]place{
		"config":  {base: line("schema = 1")},
		"project": {before: "schema = 1\n[project]\n"},
		"runtime": {before: "schema = 1\n[runtime]\n"},
		"source":  {before: "schema = 1\n[work_packages]\n"},
		"plugin": {before: "schema = 1\n[plugins.lint]\n",
			base: line(`wasm = "lint.wasm"`, `sha256 = "`+zeros+`"`)},
		"command": {before: "schema = 1\n[commands.unit-tests]\n", base: line(`run = ["true"]`)},
		"type":    {before: minimal, base: line(`steps = [{ id = "a" }]`)},
		"file":    {base: line(`steps = [{ id = "a" }]`), inFile: true},
		"mission": {before: "[mission]\n", after: "[[steps]]\nid = \"a\"\n", inFile: true},
		"step":    {before: minimal + "[[missions.m.steps]]\n", base: line(`id = "a"`, noPrompt)},
		"audit": {before: oneStep + "[[missions.m.audits]]\n",
			base: line(`id = "b"`, `question = "Ship it?"`, `enforcement = "blocking"`)},
		"input":    {before: oneStep + "[[missions.m.steps.inputs]]\n", base: line(`key = "k"`, `question = "Which?"`)},
		"guard":    {before: oneStep + "[[missions.m.steps.guards]]\n", base: line(`artifact = "x.md"`)},
		"executor": {before: oneStep + "[missions.m.steps.executor]\n", base: line(`plugin = "lint"`), after: lint},
		"packages": {before: oneStep + "[missions.m.steps.work_packages]\n", base: line(
			`take = ["planned"]`, `claim = "in_progress"`, `success = "for_review"`, `failed = "planned"`, `until = ["for_review"]`)},
	})
}

// with is the file with the table's lines, key's one being line.
func (p place) with(key, line string) string {
	text := p.before
	for _, k := range slices.Sorted(mapKeys(p.base)) {
		if k != key {
			text += p.base[k] + "\n"
		}
	}
	return text + line + "\n" + p.after
}

// only is the file with the one line in the table.
func (p place) only(line string) string { return p.before + line + "\n" + p.after }

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// load reads a text as the place's file, with everything that it names.
func (p place) load(t *testing.T, root, text string) (*config.Config, config.Frozen, error) {
	t.Helper()
	if p.inLoop || strings.Contains(p.before, "[loops.") {
		return p.loadLoop(t, root, text)
	}
	files := map[string]string{config.FileName: text}
	if p.inFile {
		files = map[string]string{config.FileName: "schema = 1\n[missions.m]\nfile = \"m.toml\"\n", "m.toml": text}
	}
	write(t, root, files)
	cfg, err := config.Load(root)
	if err != nil || cfg.Missions["m"].Type == "" {
		return cfg, config.Frozen{}, err
	}
	_, frozen, err := config.LoadMission(cfg, "m")
	return cfg, frozen, err
}

// said is what is reported at a key of the table, joined.
func said(err error, key string) string {
	var invalid *config.InvalidError
	if !errors.As(err, &invalid) {
		return ""
	}
	var all []string
	for _, p := range invalid.Problems {
		if p.Path == key || strings.HasSuffix(p.Path, "."+key) {
			all = append(all, p.Message)
		}
	}
	return strings.Join(all, "; ")
}

// decoderKeys are all keys that host/config's readers ask for, taken from their
// source: the reading code is the only list there is.
func decoderKeys(t *testing.T) []string {
	t.Helper()
	const folder = "../host/config"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && isKey(text) && !slices.Contains(keys, text) {
					keys = append(keys, text)
				}
			}
			return true
		})
	}
	return keys
}

// isKey tells texts that could be keys. Others in the source that look like one
// are tried too, and turn out to be none.
func isKey(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

// documented are the key tables of missions.md and loops.md by the places that
// they list.
func documented(t *testing.T) map[string][]row {
	t.Helper()
	keys := map[string][]row{}
	all := tables(t, "missions.md")
	maps.Copy(all, tables(t, "loops.md"))
	for name, rows := range all {
		list, ok := strings.CutPrefix(name, "keys: ")
		if !ok {
			continue
		}
		for _, where := range strings.Fields(list) {
			keys[where] = append(keys[where], rows...)
		}
	}
	return keys
}

// wanted is how the decoder words each type of the tables.
func wanted() map[string]string {
	return map[string]string{
		"text": "text in quotes", "flag": "true or false", "number": "a whole number", "path": "a path in quotes",
		"duration": "a duration in quotes", "size": "a size in quotes", "list of texts": "a list of texts",
		"table": "a table", "list of tables": "a list of tables", "amount": "a number such as 5.00", "percentage": "a percentage in quotes",
	}
}

// saidOfDates is what is reported of keys that are given a date: all at once, but
// for file, beside which others have no effect.
func (p place) saidOfDates(t *testing.T, root string, keys []string) map[string]string {
	t.Helper()
	var lines []string
	for _, key := range keys {
		if line := key + " = 1979-05-27"; key != "file" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	_, _, together := p.load(t, root, p.only(strings.Join(lines, "\n")))
	_, _, alone := p.load(t, root, p.only("file = 1979-05-27"))
	all := map[string]string{"file": said(alone, "file")}
	for _, key := range keys {
		if key != "file" {
			all[key] = said(together, key)
		}
	}
	return all
}

// A date is of no key's type, so whether a key is known shows in what is said of
// one: for a known key, what was expected instead.
func TestKeyTablesAreWhatTheDecoderAccepts(t *testing.T) {
	tried, all := decoderKeys(t), documented(t)
	root := t.TempDir()
	for where, p := range places() {
		rows := all[where]
		if len(rows) == 0 {
			t.Errorf("no page has a table %q", where)
			continue
		}
		listed := column(rows, 0)
		said := p.saidOfDates(t, root, slices.Concat(tried, listed))
		for key, message := range said {
			if known := strings.Contains(message, "was expected, not a date or time"); known != slices.Contains(listed, key) {
				t.Errorf("%s: key %s: the decoder knows it: %t, a page lists it: %t (%s)", where, key, known, !known, message)
			}
		}
		for _, r := range rows {
			if want := wanted()[r.cells[1]]; want == "" || !strings.HasPrefix(said[r.cells[0]], want) {
				t.Errorf("line %d: %s is of type %q: the decoder says %q", r.line, r.cells[0], r.cells[1], said[r.cells[0]])
			}
		}
	}
	for where := range all {
		if _, ok := places()[where]; !ok {
			t.Errorf("there is a table %q that nothing tests", where)
		}
	}
}
