package config

import (
	"strings"
	"testing"
)

// A command cannot see what the executor of its step leaves to be written, so a
// guard by one is refused there, on steps and on audits. Case 29.
func TestCommandGuardBesideAWriter_Case29(t *testing.T) {
	const head = `schema = 1
[commands.tests]
run = ["true"]
[plugins.writer]
wasm = "w.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
`
	const steps = `
[missions.m]
steps = [
  { id = "a", executor = { plugin = "writer" }, guards = [{ artifact = "x.md" }, { command = "tests" }] },
  { id = "b", guards = [{ command = "tests" }] },
]
`
	for grant, want := range map[string]string{
		"":                          "",
		"write = [\"{mission}\"]\n": `missions.m.steps[0].guards[1].command: names a command, which cannot see what the step's executor writer may write`,
	} {
		root := project(t, map[string]string{FileName: head + grant + steps})
		cfg, err := Load(root)
		if err == nil {
			_, _, err = LoadMission(cfg, "m")
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("without a grant: %v", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("with a grant: %v", err)
		case want != "" && strings.Contains(err.Error(), "steps[1]"):
			t.Errorf("the step after it is blamed: %v", err)
		}
	}
}
