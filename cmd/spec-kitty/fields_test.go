package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

func runnerCode(v any) runner.Code { text, _ := v.(string); return runner.Code(text) }

// TestSchemaFields pins the field lists of the documents (SC-004, FR-005): what
// a Go struct encodes is what its schema names, at every depth.
func TestSchemaFields(t *testing.T) {
	for name, doc := range map[string]any{
		"answer": runner.Answer{}, "error": errorDocument{}, "run-list": runList{}, "run-show": runner.Overview{},
		"run-log": runLog{}, "run-verify": runner.Verification{}, "status": statusPage{}, "doctor": runner.Diagnosis{}, "validate": runner.Validation{},
		"run-rewind": runner.Rewinding{}, "run-migrate": runner.Migration{}, "run-replay": runner.Replay{},
		"decision-list": runner.DecisionList{}, "decision-show": runner.DecisionPage{},
		"wp-list": runner.WPList{}, "wp-show": runner.WPPage{}, "wp-history": runner.WPHistory{},
		"help": helpDocument{}, "version": versionDocument{}, "init": runner.Initiated{}, "mission-list": runner.MissionList{},
		"mission-show": runner.Definition{}, "mission-graph": runner.Drawing{}, "mission-simulate": runner.Simulation{}, "mission-import": runner.MissionImport{},
		"plugin-list": runner.PluginList{}, "plugin-gc": runner.PluginGC{}, "plugin-inspect": runner.PluginInspection{}, "plugin-pin": runner.PluginPin{},
		"loop-report": tick.Report{}, "loop-status": loopStatus{}, "loop-log": loopLog{}, "loop-diff": loopDiff{}, "loop-validate": loopValidation{},
		"loop-schedule": tick.Schedule{}, "loop-doctor": tick.Diagnosis{},
		"plugin-check": runner.PluginReport{}, "plugin-run": runner.PluginRun{}, "plugin-test": runner.PluginTests{}, "plugin-new": runner.PluginNew{},
	} {
		t.Run(name, func(t *testing.T) {
			f := fieldCheck{t: t, docs: map[string]map[string]any{}}
			file := name + ".schema.json"
			f.check(reflect.TypeOf(doc), file, f.load(file), name)
		})
	}
}

type fieldCheck struct {
	t    *testing.T
	docs map[string]map[string]any
}

func (f *fieldCheck) load(file string) map[string]any {
	if f.docs[file] == nil {
		raw, err := os.ReadFile(filepath.Join(schemaFolder, file))
		if err != nil {
			f.t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			f.t.Fatal(err)
		}
		f.docs[file] = doc
	}
	return f.docs[file]
}

// resolve follows $ref, and anyOf to what is not null.
func (f *fieldCheck) resolve(file string, node map[string]any) (string, map[string]any) {
	if choices, ok := node["anyOf"].([]any); ok {
		return f.resolve(file, choices[0].(map[string]any))
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return file, node
	}
	other, path, _ := strings.Cut(ref, "#")
	if other != "" {
		file = other
	}
	node = f.load(file)
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		node = node[part].(map[string]any)
	}
	return f.resolve(file, node)
}

func (f *fieldCheck) check(typ reflect.Type, file string, node map[string]any, at string) {
	file, node = f.resolve(file, node)
	switch {
	case typ == reflect.TypeFor[json.RawMessage]():
		return
	case typ.Kind() == reflect.Pointer:
		f.check(typ.Elem(), file, node, at)
		return
	case typ.Kind() == reflect.Slice:
		if items, ok := node["items"].(map[string]any); ok {
			f.check(typ.Elem(), file, items, at+"[]")
			return
		}
		f.t.Errorf("%s: the schema says no list", at)
		return
	case typ.Kind() != reflect.Struct:
		return
	}
	f.object(typ, file, node, at)
}

func (f *fieldCheck) object(typ reflect.Type, file string, node map[string]any, at string) {
	properties, _ := node["properties"].(map[string]any)
	var named, required, inSchema, must []string
	for _, field := range reflect.VisibleFields(typ) {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == "-" || !field.IsExported() || field.Anonymous {
			continue
		}
		named = append(named, tag)
		if !strings.Contains(options, "omitempty") {
			required = append(required, tag)
		}
		if sub, ok := properties[tag].(map[string]any); ok {
			f.check(field.Type, file, sub, at+"."+tag)
		}
	}
	for name := range properties {
		inSchema = append(inSchema, name)
	}
	for _, name := range node["required"].([]any) {
		must = append(must, name.(string))
	}
	for _, l := range [][]string{named, required, inSchema, must} {
		slices.Sort(l)
	}
	if diff := cmp.Diff(named, inSchema); diff != "" {
		f.t.Errorf("%s: fields of %v (-) and of the schema (+):\n%s", at, typ, diff)
	}
	if diff := cmp.Diff(required, must); diff != "" {
		f.t.Errorf("%s: fields of %v always there (-) and required (+):\n%s", at, typ, diff)
	}
	if node["additionalProperties"] != false {
		f.t.Errorf("%s: the schema lets other fields pass", at)
	}
}
