package importer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/importer"
)

// refused wants exactly these beginnings of problems.
func refused(t *testing.T, src importer.Source, want ...string) {
	t.Helper()
	_, err := importer.Import(src)
	var e *importer.RefusedError
	if !errors.As(err, &e) {
		t.Errorf("%q: %v", src.Definition.Data, err)
		return
	}
	for i, p := range e.Problems {
		if i >= len(want) || !strings.HasPrefix(p.String(), want[i]) {
			t.Errorf("%.60q: problem %d is %s, wanted %q", src.Definition.Data, i, p, want)
		}
	}
	if len(e.Problems) < len(want) {
		t.Errorf("%.60q: %d problems, wanted %q", src.Definition.Data, len(e.Problems), want)
	}
}

// Whatever is no YAML, or none that means one thing, is refused with line and
// column.
func TestRefusedYAML(t *testing.T) {
	for yaml, want := range map[string]string{
		"":                                       "mission.yaml: is empty",
		"# nothing\n":                            "mission.yaml: is empty",
		"[a]":                                    "mission.yaml:1:1: a mapping was expected, not a list",
		"key: m\nsteps: [{id: a}\n":              "mission.yaml:2:",
		"key: m\nsteps:\n  - id: a\n\tx: 1\n":    "mission.yaml:4:2: is no YAML: found a tab character that violates indentation",
		"key: m\nx: 'm\nsteps: [a]\n":            "mission.yaml:2:1: is no YAML: found unexpected end of stream",
		"key: m\n---\nkey: n\n":                  "mission.yaml:2:1: a second document begins",
		"key: m\nkey: n\nsteps: [{id: a}]\n":     `mission.yaml:2:1: the key "key" stands here twice, first in line 1`,
		"key: m\nsteps: [{id: a, ? [x] : y}]\n":  "mission.yaml:2:19: a key must be a single value, not a list",
		"key: m\nx: &x [*x]\nsteps: [{id: a}]\n": `mission.yaml:2:`,
		"key: !mine m\nsteps: [{id: a}]\n":       "mission.yaml:1:6: the tag !mine is not known",
		"key: m\n<<: 3\nsteps: [{id: a}]\n":      "mission.yaml:2:5: << takes a mapping or a list of mappings, not a single value",
		"key: m\nsteps: *none\n":                 "mission.yaml:",
		"key: m\nx: \xff\n":                      "mission.yaml:2:4: is not UTF-8",
	} {
		refused(t, text(yaml), want)
	}
	refused(t, text("a: "+strings.Repeat("[", 60)+strings.Repeat("]", 60)), "mission.yaml:1:54: is nested more than 50 deep")
	refused(t, text("x: "+strings.Repeat(" ", importer.MaxSource)), "mission.yaml: is larger than 1048576 bytes")
}

// A few lines of aliases cannot stand for more than is allowed.
func TestAliasesAreBounded(t *testing.T) {
	var yaml strings.Builder
	yaml.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&yaml, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	refused(t, text(yaml.String()), "mission.yaml:5:")
}

// Field case 45: a misspelled key is refused, with the nearest known one; free
// data is not.
func TestMisspelledKeys_Case45(t *testing.T) {
	refused(t, text("kye: m\nstep:\n- x\nsteps:\n  - {id: a, depend_on: [b], promt: x, note: fine}\n  - {id: b, titel: B}\naudit_steps:\n  - {id: c, audit: {enforcment: blocking}}\n"),
		`mission.yaml:5:13: steps[0].depend_on: unknown key "depend_on"; did you mean depends_on?`,
		`mission.yaml:5:29: steps[0].promt: unknown key "promt"; did you mean prompt?`,
		`mission.yaml:6:13: steps[1].titel: unknown key "titel"; did you mean title?`,
		`mission.yaml:8:21: audit_steps[0].audit.enforcment: unknown key "enforcment"; did you mean enforcement?`)
	imported(t, text("key: m\nsteps:\n  - {id: a, title: A, notes: fine, tittle: also}\n"))
}

// Field case 37: a ring is refused and named in full; a diamond and a long chain
// are none.
func TestRings_Case37(t *testing.T) {
	for ring, want := range map[string]string{
		"[{id: a, depends_on: [a]}]":                                                       "a",
		"[{id: a, depends_on: [b]}, {id: b, depends_on: [a]}]":                             "b",
		"[{id: a, depends_on: [c]}, {id: b, depends_on: [a]}, {id: c, depends_on: [b]}]":   "c",
		"[{id: x}, {id: a, depends_on: [b]}, {id: b, depends_on: [a]}, {id: c, name: ok}]": "a",
	} {
		_, err := importer.Import(text("key: m\nsteps: " + ring + "\n"))
		var e *importer.RefusedError
		if !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Line != 2 || e.Problems[0].Column < 9 || !strings.Contains(e.Problems[0].Message, want) {
			t.Errorf("%s: %v", ring, err)
		}
	}
	imported(t, text("key: m\nsteps: [{id: a}, {id: b, depends_on: [a]}, {id: c, depends_on: [a]}, {id: d, depends_on: [b, c]}]\n"))
	var chain strings.Builder
	chain.WriteString("key: m\nsteps:\n- {id: s0}\n")
	for i := 1; i < 200; i++ {
		fmt.Fprintf(&chain, "- {id: s%d, depends_on: [s%d]}\n", i, i-1)
	}
	imported(t, text(chain.String()))
}

// What no definition may hold is said where it stands in the source, all at once.
func TestRefusedDefinitions(t *testing.T) {
	refused(t, text("key: m\nsteps:\n  - {id: a, depends_on: [a, nix], requires_inputs: [ok, 'ä']}\n  - {id: a, title: x}\n  - id: 'b c'\n    agent-profile: p\n"),
		"mission.yaml:3:25: ", "mission.yaml:3:29: ", "mission.yaml:3:57: ", "mission.yaml:4:", "mission.yaml:5:9: ")
	refused(t, text("key: m\nsteps: []\n"), "mission.yaml:1:1: steps: a definition needs at least one step")
	refused(t, text("steps: [{id: a}]\nkey: 'a b'\n"), "mission.yaml:1:1: mission.key: the name")
	src := text("key: m\nsteps: [{id: a}]\n")
	src.Machine = importer.File{Name: "mission.yaml ", Data: []byte("transitions: 3\nguards: [1]\n")}
	src.Artifacts = importer.File{Name: "expected-artifacts.yaml", Data: []byte("required_by_step:\n  a: [{blocking: true}, {path_pattern: x, blocking: maybe}]\n")}
	refused(t, src, "mission.yaml :1:14: transitions: a list was expected", "mission.yaml :2:9: guards: a mapping was expected",
		"expected-artifacts.yaml:2:7: ", "expected-artifacts.yaml:2:53: ")
}
