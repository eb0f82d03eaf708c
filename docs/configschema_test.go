package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/mission"
)

// The schemas of what people write, for editors.
const (
	configSchema  = "spec-kitty"
	missionSchema = "mission"
	loopSchema    = "loop"
)

// node is a part of a schema.
type node map[string]any

func loadSchema(t *testing.T, name string) node {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("schema", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc node
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

func (n node) at(key string) node {
	sub, _ := n[key].(map[string]any)
	return sub
}

// resolve follows a reference, also one that stands beside a description.
func (n node) resolve(doc node) node {
	if all, ok := n["allOf"].([]any); ok && n["type"] == nil && len(all) == 1 {
		return node(all[0].(map[string]any)).resolve(doc)
	}
	ref, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	return doc.at("definitions").at(strings.TrimPrefix(ref, "#/definitions/")).resolve(doc)
}

// tableSchemas are the places of missions.md as the schemas have them.
func tableSchemas(t *testing.T) map[string]node {
	c, m := loadSchema(t, configSchema), loadSchema(t, missionSchema)
	all := map[string]node{"config": c, "file": m}
	for where, name := range map[string]string{
		"project": "project", "runtime": "runtime", "source": "source", "plugin": "plugin", "command": "command", "type": "type", "mission": "heading",
		"step": "step", "audit": "audit", "input": "input", "guard": "guard", "executor": "executor", "packages": "packages",
	} {
		all[where] = c.at("definitions").at(name)
	}
	maps.Copy(all, loopSchemas(t, c))
	return all
}

// docOf is the schema that a place's references lead into.
func docOf(t *testing.T, where string) node {
	if where == "file" {
		return loadSchema(t, missionSchema)
	}
	return loadSchema(t, configSchema)
}

// Both schemas stand alone, as not every editor follows a reference into another
// file: what they share is the same.
func TestConfigSchemasAgree(t *testing.T) {
	c, m := loadSchema(t, configSchema), loadSchema(t, missionSchema)
	for name, want := range m.at("definitions") {
		if diff := cmp.Diff(want, c.at("definitions")[name]); diff != "" {
			t.Errorf("definition %s differs (-mission +spec-kitty):\n%s", name, diff)
		}
	}
	inline := c.at("definitions").at("type").at("properties")
	for name, want := range m.at("properties") {
		if diff := cmp.Diff(want, inline[name]); diff != "" {
			t.Errorf("key %s of a mission type differs (-mission +spec-kitty):\n%s", name, diff)
		}
	}
}

// Issue 4: the keys of each table, and their types, are those that the decoder
// accepts. Field case 45: no table lets another key pass.
func TestConfigSchemaKeysAreWhatTheDecoderAccepts(t *testing.T) {
	tried, schemas := decoderKeys(t), tableSchemas(t)
	root := t.TempDir()
	for where, p := range places() {
		table := schemas[where]
		keys := slices.Sorted(mapKeys(table.at("properties")))
		if len(keys) == 0 || table["additionalProperties"] != false {
			t.Errorf("%s: %d keys, others pass: %v", where, len(keys), table["additionalProperties"])
		}
		for key, message := range p.saidOfDates(t, root, slices.Concat(tried, keys)) {
			known := strings.Contains(message, "was expected, not a date or time")
			if known != slices.Contains(keys, key) {
				t.Errorf("%s: key %s: the decoder knows it: %t, the schema: %t", where, key, known, !known)
			} else if known {
				of := node(table.at("properties").at(key)).resolve(docOf(t, where))
				if got := schemaType(of, docOf(t, where)); !strings.HasPrefix(message, got) {
					t.Errorf("%s: key %s: the schema wants %q, the decoder says %q", where, key, got, message)
				}
			}
		}
	}
}

// schemaType is a schema's type in the decoder's words.
func schemaType(of, doc node) string {
	switch of["type"] {
	case "boolean":
		return "true or false"
	case "integer":
		return "a whole number"
	case "number":
		return "a number such as 5.00"
	case "object":
		return "a table"
	case "array":
		if item := of.at("items").resolve(doc); item["type"] == "object" {
			return "a list of tables"
		}
		return "a list of texts"
	}
	switch pattern, _ := of["pattern"].(string); {
	case of["const"] != nil:
		return "a whole number"
	case strings.HasSuffix(pattern, "GiB)$"):
		return "a size in quotes"
	case strings.Contains(pattern, "ms|s|m|h"):
		return "a duration in quotes"
	}
	return "" // a text, or a path: both are texts in quotes
}

// What a schema requires the decoder misses, and what it does not require the
// decoder does without.
func TestConfigSchemaRequiresWhatTheDecoderDoes(t *testing.T) {
	root := t.TempDir()
	for where, table := range tableSchemas(t) {
		p := places()[where]
		required, _ := table["required"].([]any)
		for _, key := range required {
			if _, _, err := p.load(t, root, p.with(key.(string), "")); said(err, key.(string)) == "" {
				t.Errorf("%s: the schema requires %s, and without it: %v", where, key, err)
			}
		}
		for key := range p.base {
			_, _, err := p.load(t, root, p.with(key, ""))
			if missed := said(err, key) != ""; missed && accepts(t, p, p.with(key, "")) == nil {
				t.Errorf("%s: without %s: %v; the schema accepts it", where, key, err)
			} else if !missed && slices.Contains(required, any(key)) {
				t.Errorf("%s: the schema requires %s, the decoder does not", where, key)
			}
		}
	}
}

// The words of an enum are accepted, and the decoder knows no others.
func TestConfigSchemaEnumsAreTheDecodersWords(t *testing.T) {
	var lanes []string
	for _, l := range mission.Lanes() {
		lanes = append(lanes, string(l))
	}
	root, seen := t.TempDir(), 0
	for where, table := range tableSchemas(t) {
		doc := docOf(t, where)
		for key := range table.at("properties") {
			of := node(table.at("properties").at(key)).resolve(doc)
			list := of["type"] == "array"
			if list {
				of = of.at("items").resolve(doc)
			}
			words, ok := of["enum"].([]any)
			if !ok {
				continue
			}
			seen++
			var got []string
			for _, word := range words {
				got = append(got, word.(string))
			}
			want := decoderWords(t, places()[where], root, where, key, list)
			if want == nil {
				want = append(slices.Clone(lanes), "doing")
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: words of %s (-decoder +schema):\n%s", where, key, diff)
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d enums were seen", seen)
	}
	if l, ok := mission.ParseLane("doing"); !ok || l != mission.InProgress {
		t.Error("doing is no alias any more")
	}
}

// decoderWords are the words that a key may have, as the decoder lists them
// where another one is given; nil: lanes.
func decoderWords(t *testing.T, p place, root, where, key string, list bool) []string {
	t.Helper()
	line := key + ` = "no-such-word"`
	if list {
		line = key + ` = ["no-such-word"]`
	}
	text := p.with(key, line)
	if where == "guard" && key == "lanes" {
		text = p.with("artifact", "work_packages = \"WP01\"\n"+line)
	}
	_, _, err := p.load(t, root, text)
	var invalid *config.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("%s: %s: %v", where, line, err)
	}
	for _, problem := range invalid.Problems {
		if strings.Contains(problem.Message, `there is no lane "no-such-word"`) {
			return nil
		}
		if found := regexp.MustCompile(`^must be (?:one of )?(.*), not "no-such-word"$`).FindStringSubmatch(problem.Message); found != nil {
			return regexp.MustCompile(`, | or `).Split(found[1], -1)
		}
	}
	t.Fatalf("%s: %s: %v", where, line, err)
	return nil
}

// accepts holds a file against its schema.
func accepts(t *testing.T, p place, text string) error {
	t.Helper()
	switch {
	case p.inFile:
		return fitsTOML(t, missionSchema, text)
	case p.inLoop:
		return fitsTOML(t, loopSchema, text)
	}
	return fitsTOML(t, configSchema, text)
}

func fitsTOML(t *testing.T, name, text string) error {
	t.Helper()
	values := map[string]any{}
	if _, err := toml.Decode(text, &values); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return compiledSchema(t, name).Validate(doc)
}

func compiledSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiled, err := compiler.Compile(filepath.Join("schema", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// Every project and definition in the pages and examples fits its schema, and
// what is refused is refused by it too.
func TestConfigSchemasAcceptWhatLoads(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "toml" {
				continue
			}
			seen++
			files := b.project()
			name, text := configSchema, files[config.FileName]
			if b.isDefinition() {
				name, text = missionSchema, files["m.toml"]
			} else if b.isLoop() {
				name, text = loopSchema, files["l.toml"]
			}
			if err := fitsTOML(t, name, text); (err == nil) == (b.marker == "refused") {
				t.Errorf("%s:%d: refused: %v; the schema says %v", b.page, b.line, b.marker == "refused", err)
			}
		}
	}
	for _, file := range tomlFiles(t) {
		seen++
		name := missionSchema
		if filepath.Base(file) == config.FileName {
			name = configSchema
		}
		if err := fitsTOML(t, name, readPage(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if seen < 15 {
		t.Errorf("%d files were seen", seen)
	}
}

// tomlFiles are the files of TOML of the repository itself.
func tomlFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../*.toml", "../examples/*/*.toml", "../host/scaffold/files/*.toml", "../host/scaffold/files/missions/*/*.toml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	return all
}

// Every file of TOML begins with the line that makes editors use its schema, and
// what the line names is there.
func TestTOMLFilesNameTheirSchema(t *testing.T) {
	const published = "https://raw.githubusercontent.com/spec-kitty/step-runner/main/docs/"
	files := tomlFiles(t)
	if len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		line, _, _ := strings.Cut(readPage(t, file), "\n")
		target, ok := strings.CutPrefix(line, "#:schema ")
		if !ok {
			t.Errorf("%s begins with %q", file, line)
			continue
		}
		path, isURL := strings.CutPrefix(target, published)
		if !isURL {
			path = filepath.Join(filepath.Dir(file), filepath.FromSlash(target))
		}
		want := missionSchema
		switch filepath.Base(file) {
		case config.FileName:
			want = configSchema
		case "loop.toml":
			want = loopSchema
		}
		if _, err := os.Stat(path); err != nil || filepath.Base(path) != want+".schema.json" {
			t.Errorf("%s names %s: %v", file, target, err)
		}
		if outside := strings.Contains(file, "scaffold"); outside != isURL {
			t.Errorf("%s names %s: a new project has no docs folder, and the repository needs no network", file, target)
		}
	}
	for name := range map[string]bool{configSchema: true, missionSchema: true} {
		if page := readPage(t, "missions.md"); !strings.Contains(page, fmt.Sprintf("#:schema %sschema/%s.schema.json", published, name)) {
			t.Errorf("missions.md does not show the line for %s.schema.json", name)
		}
	}
}
