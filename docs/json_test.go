package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Every JSON block is a document that the program could print.
func TestJSONBlocksFitTheirSchema(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "json" {
				continue
			}
			seen++
			var doc map[string]any
			if err := json.Unmarshal([]byte(b.text), &doc); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				continue
			}
			if err := fits(shape(doc), []byte(b.text)); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
	if seen == 0 {
		t.Error("no JSON was seen")
	}
}

// shape is the name of the schema that a document belongs to, by a key that only
// its documents have.
func shape(doc map[string]any) string {
	for _, s := range []struct{ key, name string }{
		{"error_code", "error"}, {"findings", "doctor"}, {"dropped", "plugin-gc"}, {"plugins", "plugin-list"}, {"imports", "plugin-inspect"}, {"sha256_before", "plugin-pin"}, {"exported", "run-export"}, {"unit_changes", "loop-schedule"}, {"preflight", "loop-doctor"}, {"outcome", "loop-report"}, {"checked_loops", "loop-validate"}, {"entries", "loop-log"}, {"diff", "loop-diff"}, {"imported", "run-import"}, {"sources", "mission-import"},
		{"checks", "plugin-check"}, {"facts", "plugin-run"}, {"tests", "plugin-test"}, {"lang", "plugin-new"},
		{"kind", "answer"}, {"runs", "run-list"}, {"records", "run-log"}, {"damaged", "status"},
		{"sound", "run-verify"}, {"created", "init"}, {"types", "mission-list"}, {"definition", "mission-show"}, {"graph", "mission-graph"},
		{"assumed", "mission-simulate"}, {"steps", "run-show"}, {"packages", "wp-list"},
		{"package", "wp-show"}, {"changes", "wp-history"}, {"valid", "validate"}, {"loops", "loop-status"}, {"help", "help"},
	} {
		if _, ok := doc[s.key]; ok {
			return s.name
		}
	}
	return "version"
}

// fits holds a document against a schema of the folder schema.
func fits(name string, doc []byte) error {
	raw, err := os.ReadFile(filepath.Join("schema", name+".schema.json"))
	if err != nil {
		return err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, schema); err != nil {
		return err
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}
