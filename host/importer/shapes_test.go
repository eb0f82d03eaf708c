package importer_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/mission"
)

// The three ways in which definitions are written in the field say the same.
func TestShapesOfDefinitions(t *testing.T) {
	want := imported(t, text("mission: {key: m, name: M, version: '1'}\nsteps:\n- {id: a, title: A}\n- {id: b, title: B, depends_on: [a]}\n"))
	for name, yaml := range map[string]string{
		"top":    "key: m\nname: M\nversion: 1\nsteps:\n- {id: a, title: A}\n- {id: b, title: B, depends_on: a}\n",
		"inside": "mission:\n  key: m\n  title: M\n  version: 1\n  steps:\n  - {id: b, name: B, order: 2, depends_on: [a]}\n  - {id: a, name: A, order: 1}\n",
		"crlf":   "\ufeffkey: m\r\nname: M\r\nversion: 1\r\nsteps:\r\n- id: a\r\n  title: A\r\n- id: b\r\n  title: B\r\n  depends_on: [a]\r\n",
		"anchors": "x: &a {id: a, title: A}\nmission: {key: m, name: M, version: '1'}\nsteps:\n- *a\n- <<: {title: B, id: zz}\n  id: b\n" +
			"  depends_on: [a] # a comment\n",
		"mirrored": "mission: {key: m, name: M, version: '1', steps: [{id: other}]}\nsteps:\n- {id: a, title: A}\n- {id: b, title: B, depends_on: [a]}\n",
	} {
		got := imported(t, text(yaml))
		if diff := cmp.Diff(want.Definition, got.Definition); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Steps carry all that is theirs; free data becomes metadata, whatever its type.
func TestStepsCarryTheirData(t *testing.T) {
	got := imported(t, text(`key: m
steps:
  - id: a
    title: "Zwölf ✓"
    description: |
      two
      lines with "quotes", \ and """three"""
    agent_profile: kim
    contract_ref: c-1
    expected_output: a.md
    requires_inputs: [export-shape, db, db]
    effort: 3
    share: 0.5
    whole: 1.0
    big: 123456789012345678901
    urgent: yes
    "on": 'yes'
    since: 2024-01-02
    none: ~
    "a key": {deep: [1, two, ~, {x: .inf}]}
`))
	step := got.Definition.Steps[0]
	want := map[string]any{"contract_ref": "c-1", "expected_output": "a.md", "effort": int64(3), "share": 0.5, "whole": 1.0, "big": "123456789012345678901",
		"urgent": true, "on": "yes", "since": "2024-01-02", "a key": map[string]any{"deep": []any{int64(1), "two", "", map[string]any{"x": ".inf"}}}}
	if diff := cmp.Diff(want, step.Metadata); diff != "" {
		t.Errorf("metadata:\n%s", diff)
	}
	if step.Title != "Zwölf ✓" || step.Profile != "kim" || step.Description != "two\nlines with \"quotes\", \\ and \"\"\"three\"\"\"" {
		t.Errorf("%+v", step)
	}
	if keys := []string{step.Inputs[0].Key, step.Inputs[1].Key}; len(step.Inputs) != 2 || !slices.Equal(keys, []string{"export_shape", "db"}) {
		t.Errorf("inputs %+v", step.Inputs)
	}
	wantNote(t, got, importer.Changed, "mission.yaml", 11, "export_shape")
}

// Prompts are found beside the definition and where --prompts says, first there;
// at a step with packages they show the package.
func TestPrompts(t *testing.T) {
	src := text(`mission: {key: m, runtime: {prompt_template_dir: mine}}
steps:
  - {id: a, prompt_template: sub/a.md}
  - {id: b, prompt_template: b.md}
  - {id: implement}
  - {id: c, prompt: "{{as it is}} $ARGUMENTS"}
  - {id: d, prompt_template: d.md}
  - {id: done}
`)
	src.Prompts = []fs.FS{
		fstest.MapFS{"b.md": {Data: []byte("\ufefffirst\r\nB")}},
		fstest.MapFS{"templates/sub/a.md": {Data: []byte("A {SCRIPT}")}, "b.md": {Data: []byte("second")}, "command-templates/implement.md": {Data: []byte("do {{x}}")}, "mine/d.md": {Data: []byte(" \n")}},
	}
	got := imported(t, src)
	texts := map[string]string{}
	for _, f := range got.Files[1:] {
		texts[f.Name] = string(f.Data)
	}
	if texts["prompts/sub/a.md"] != "A {SCRIPT}" || texts["prompts/b.md"] != "first\nB" || !strings.HasPrefix(texts["prompts/implement.md"], `do {{"{{"}}x}}`) ||
		!strings.Contains(texts["prompts/implement.md"], "{{.Package.Body}}") || texts["prompts/d.md"] != "# d\n" {
		t.Errorf("%q", texts)
	}
	if c := got.Definition.Steps[3].Prompt; c.Text != "{{as it is}} $ARGUMENTS" || !c.Literal || c.Path != "" {
		t.Errorf("%+v", c)
	}
	wantNote(t, got, importer.Changed, "mission.yaml", 3, "{SCRIPT}")
	wantNote(t, got, importer.Stub, "mission.yaml", 7, "is empty")
	wantNote(t, got, importer.Changed, "mission.yaml", 5, "counts as approved")
	wantNote(t, got, importer.Changed, "mission.yaml", 8, "step-done")
	if end := walked(t, got); end != "done" {
		t.Errorf("the walk ends %s", end)
	}
}

// Two prompts whose names differ only in letter case are two files.
func TestPromptsThatClash(t *testing.T) {
	src := text("key: m\nsteps:\n  - {id: a, prompt_template: P.md}\n  - {id: b, prompt_template: p.md}\n  - {id: c, prompt_template: p.md}\n")
	src.Prompts = []fs.FS{fstest.MapFS{"P.md": {Data: []byte("one")}, "p.md": {Data: []byte("two")}}}
	got := imported(t, src)
	var names []string
	for _, f := range got.Files[1:] {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"prompts/P.md", "prompts/p-b.md", "prompts/p-c.md"}) {
		t.Errorf("%v", names)
	}
}

// A state machine without steps is one: its states are, in their order, and what
// leads back is said.
func TestStateMachineAlone(t *testing.T) {
	got := imported(t, text(`mission: {name: m, version: "2"}
states: [{name: goals, display_name: The goals}, {name: draft, color: red}, {name: over}]
transitions:
  - {trigger: go, source: goals, dest: draft, conditions: ['artifact_exists("goals.md")', has_two, 'event_count("met", 2)', has_met, 'event_count("met", 3)']}
  - {trigger: go, source: draft, dest: over, conditions: ['artifact_exists("src/")', 'what is this', 'any_wp_status("done")', 'input_provided("x")', 'event_count("met", 0)', 'event_count("", 1)', 'event_count("met", 1000001)']}
  - {trigger: redo, source: [draft, goals], dest: goals}
guards:
  has_met: {check: 'event_count("met", 2)'}
  has_two: {check: 'artifact_exists("two.md")'}
  lonely: {check: 'artifact_exists("three.md")'}
`))
	if got.Definition.Key != "m" || len(got.Definition.Steps) != 2 || got.Definition.Steps[0].Title != "The goals" || got.Definition.Steps[1].Metadata["color"] != "red" {
		t.Errorf("%+v", got.Definition)
	}
	if g := guardsOf(t, got.Definition, "goals"); !slices.Equal(g, []string{"goals.md", "two.md", "2 met", "3 met"}) {
		t.Errorf("%v", g)
	}
	for _, part := range []string{"folder", "what is this", "no step works on packages", "input", "number of events", "is empty", "1000000"} {
		wantNote(t, got, importer.LeftOut, "mission.yaml", 5, part)
	}
	wantNote(t, got, importer.LeftOut, "mission.yaml", 6, "way back from draft to goals (redo)")
	wantNote(t, got, importer.LeftOut, "mission.yaml", 10, "lonely")
}

// Artifacts that block are guards of the step that must have made them.
func TestExpectedArtifacts(t *testing.T) {
	src := text("key: m\nsteps:\n  - {id: a}\n  - {id: tasks}\n")
	src.Artifacts = importer.File{Name: "expected-artifacts.yaml", Data: []byte(`required_always: [{path_pattern: always.md, blocking: true}]
required_by_step:
  a: [{path_pattern: a.md, blocking: true}, {path_pattern: a.md, blocking: yes}, {path_pattern: maybe.md, blocking: false}]
  tasks_packages: [{path_pattern: "tasks/WP*.md", blocking: true}]
  tasks: [{path_pattern: "docs/**/*.md", blocking: true}]
  done: [{path_pattern: x.md, blocking: true}]
  nothing: ~
optional_always: [{path_pattern: extra.md}]
`)}
	got := imported(t, src)
	if a, b := guardsOf(t, got.Definition, "a"), guardsOf(t, got.Definition, "tasks"); !slices.Equal(a, []string{"always.md", "a.md"}) || !slices.Equal(b, []string{"tasks/WP*.md"}) {
		t.Errorf("%v, %v", a, b)
	}
	wantNote(t, got, importer.LeftOut, "expected-artifacts.yaml", 5, "**")
	wantNote(t, got, importer.LeftOut, "expected-artifacts.yaml", 6, "x.md")
	wantNote(t, got, importer.LeftOut, "expected-artifacts.yaml", 3, "maybe.md")
	wantNote(t, got, importer.LeftOut, "expected-artifacts.yaml", 8, "extra.md")
}

// Blocking audits are questions, advisory ones steps that keep their data.
func TestAudits(t *testing.T) {
	got := imported(t, text(`key: m
steps: [{id: a}]
audit_steps:
  - {id: gate, title: The gate, description: Look twice, depends_on: [a], audit: {trigger_mode: both, enforcement: blocking, label: L}}
  - {id: look, title: A look, audit: {trigger_mode: manual, enforcement: advisory}, raci: {responsible: {actor_type: human}}}
`))
	gate, look := got.Definition.Steps[1], got.Definition.Steps[2]
	if gate.Audit.Enforcement != mission.Blocking || gate.Audit.Question != "Audit checkpoint: The gate. Approve to continue?\n\nLook twice" {
		t.Errorf("%+v", gate.Audit)
	}
	if look.Audit.Enforcement != mission.Advisory || look.Metadata["trigger_mode"] != "manual" || look.Metadata["raci"] == nil {
		t.Errorf("%+v", look)
	}
	wantNote(t, got, importer.LeftOut, "mission.yaml", 4, "label")
	if !slices.Equal(got.WithoutGuard, []string{"a", "look"}) {
		t.Errorf("without guard: %v", got.WithoutGuard)
	}
}

// What a definition says and nothing here does is listed with its line, also where it
// keeps nothing from going on there (issue 4: nothing is dropped in silence).
func TestNothingIsDroppedInSilence(t *testing.T) {
	got := imported(t, text(`key: m
inputs:
  - {name: root, type: path, required: false, description: "Where?"}
  - {name: who, type: string, required: true, description: "Who?"}
artifacts:
  required: []
  optional: [notes.md]
  archived: [old.md]
states:
  - {name: a, on_enter: [log], requires_inputs: [root, who], when: always, expected_artifacts: [a.md]}
  - {name: b, on_enter: [log]}
transitions: [{source: a, dest: b, trigger: go}]
`))
	for _, want := range []struct {
		code importer.Code
		line int
		part string
	}{
		{importer.Changed, 3, "type path is not checked"},
		{importer.Changed, 3, "not required there"},
		{importer.LeftOut, 7, "notes.md"},
		{importer.LeftOut, 8, "artifacts.archived"},
		{importer.LeftOut, 10, "on_enter of 2 states"},
		{importer.Changed, 10, "when is kept in [steps.metadata]"},
		{importer.Changed, 10, "expected_artifacts is kept"},
	} {
		wantNote(t, got, want.code, "mission.yaml", want.line, want.part)
	}
	for _, n := range got.Notes {
		if strings.Contains(n.Message, `"who"`) && n.Code == importer.Changed {
			t.Errorf("an input that is taken over whole is listed: %s", n.Message)
		}
	}
}
