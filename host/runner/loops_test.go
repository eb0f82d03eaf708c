package runner

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/tick"
)

const oneLoop = `schema = 1
[loops.deps]
file = "loops/deps.toml"
[commands.unit]
run = ["./check.sh"]
`

const deps = `schema = 1
[work]
run = ["./update.sh"]
prompt_file = "prompt.md"
timeout = "1m"
[verify]
command = "unit"
protect = ["*_test.go"]
[approval]
before = ["land"]
[limits]
max_runs = 5
`

func loopProject(t *testing.T, change map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{"spec-kitty.toml": oneLoop, "loops/deps.toml": deps, "loops/prompt.md": "Update.\n", "loops/update.sh": "#!/bin/sh\n", "check.sh": "#!/bin/sh\n"}
	for name, content := range change {
		files[name] = content
	}
	for name, content := range files {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

// Consent to a loop is to all that it does: what it runs, by which words, what it
// moves, who is asked and what judges it.
func TestConsentToALoop(t *testing.T) {
	digest := func(change map[string]string) string {
		c, err := open(t, loopProject(t, change)).Consent(context.Background(), ConsentTo{Loop: "deps"})
		if err != nil || !c.Needed || c.Of != "loop" || len(c.Loops) != 1 || len(c.Commands) != 1 {
			t.Fatalf("%+v %v", c, err)
		}
		return c.Digest
	}
	before := digest(nil)
	if digest(map[string]string{"loops/deps.toml": "# a comment\n" + deps}) != before {
		t.Error("a comment asks again")
	}
	for name, change := range map[string]map[string]string{
		"the prompt":          {"loops/prompt.md": "Something else.\n"},
		"the script":          {"loops/update.sh": "#!/bin/sh\nexit 0\n"},
		"the command's file":  {"check.sh": "#!/bin/sh\nexit 0\n"},
		"the command":         {"spec-kitty.toml": oneLoop + "timeout = \"2m\"\n"},
		"the branch":          {"loops/deps.toml": deps + "[worktree]\nbranch = \"release\"\n"},
		"the approval":        {"loops/deps.toml": replaced(deps, "before = [\"land\"]", "before = [\"start\"]")},
		"the protected files": {"loops/deps.toml": replaced(deps, "*_test.go", "*_x.go")},
		"a limit":             {"loops/deps.toml": replaced(deps, "max_runs = 5", "max_runs = 500")},
	} {
		if digest(change) == before {
			t.Errorf("%s changed, and nobody is asked again", name)
		}
	}
}

func replaced(text, old, with string) string { return strings.Replace(text, old, with, 1) }

// A plugin may have a name that looks like a file's; the one that a loop asks is the
// configured one all the same, never a file of the folder that the tick was called in.
func TestLoopAsksTheConfiguredPlugin(t *testing.T) {
	root := makeProject(t, "", nil, "allow")
	config := filepath.Join(root, "spec-kitty.toml")
	write(t, config, strings.Replace(read(t, config), "[plugins.allow]", "[plugins.\"allow.wasm\"]", 1))
	t.Chdir(root)
	j, err := open(t, root).loopGuard(t.Context(), "allow.wasm", tick.Question{Loop: "deps", Part: "gate", Dir: root})
	if err != nil || j.Verdict != command.Allow {
		t.Errorf("%+v, %v", j, err)
	}
}

// All that is wrong with loops is told at once, a branch that two have in common too.
func TestCheckLoopsTellsAll(t *testing.T) {
	plain := replaced(deps, "command = \"unit\"", "run = [\"true\"]")
	root := loopProject(t, map[string]string{
		"spec-kitty.toml": "schema = 1\n[loops.a]\nfile = \"loops/a.toml\"\n[loops.b]\nfile = \"loops/b.toml\"\n[loops.c]\nfile = \"loops/c.toml\"\n",
		"loops/a.toml":    replaced(plain, "max_runs = 5", "max_runs = 0"),
		"loops/b.toml":    plain + "[worktree]\nbranch = \"x\"\n",
		"loops/c.toml":    plain + "[worktree]\nbranch = \"x\"\n",
	})
	p := open(t, root)
	_, err := p.CheckLoops("")
	if err == nil || !strings.Contains(err.Error(), "max_runs") || strings.Count(err.Error(), "the same branch x") != 1 {
		t.Errorf("%v", err)
	}
	if _, err := p.CheckLoops("b"); err == nil || !strings.Contains(err.Error(), "loops b and c") {
		t.Errorf("%v", err)
	}
}
