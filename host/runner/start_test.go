package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// A plugin whose bytes are not those that were pinned, or that is no plugin,
// keeps a run from being started, and nothing is left.
func TestWrongPinStartsNothing(t *testing.T) {
	const definition = `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "allow" }] }]`
	for name, spoil := range map[string]func(root string) error{
		"other bytes": func(root string) error {
			return os.WriteFile(filepath.Join(root, "allow.wasm"), []byte("\x00asm\x01\x00\x00\x00"), 0o644)
		},
		"gone": func(root string) error { return os.Remove(filepath.Join(root, "allow.wasm")) },
		"a dir": func(root string) error {
			return errors.Join(os.Remove(filepath.Join(root, "allow.wasm")), os.Mkdir(filepath.Join(root, "allow.wasm"), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := makeProject(t, definition, nil, "allow")
			p := open(t, root)
			if err := spoil(root); err != nil {
				t.Fatal(err)
			}
			_, err := p.Next(context.Background(), report("a", cursor.Success))
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeDefinitionInvalid || !strings.HasSuffix(e.File, "allow.wasm") || e.NextStep == "" {
				t.Fatalf("error %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A run goes on with the plugin that it froze, whatever becomes of the file.
func TestRunKeepsItsPlugin(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "allow" }] }, { id = "B" }]`, nil, "allow")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	if err := os.Remove(filepath.Join(root, "allow.wasm")); err != nil {
		t.Fatal(err)
	}
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
}

// A prompt that cannot be rendered keeps its work from being handed out, by
// name, and nothing is written.
func TestPromptThatCannotBeRendered(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A" }, { id = "B", prompt = "{{index .Inputs \"none\" | printf \"%s\" | len | slice \"abc\" 9}}" }]`, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	before := journal(t, root)
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "prompt_failed")
	if journal(t, root) != before || value(a.StepID) != "A" {
		t.Errorf("step %s; the journal changed: %v", value(a.StepID), journal(t, root) != before)
	}
}

// A prompt file that was deleted is written again by any report that finds it
// missing, with the same content; a query shows null.
func TestDeletedPromptComesBack(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	first := must(t, p, report("a", cursor.Success))
	want := read(t, *first.PromptFile)
	if err := os.Remove(*first.PromptFile); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Query(context.Background(), "m", Caller{Agent: "a"}); err != nil || a.PromptFile != nil {
		t.Fatalf("query: %v %v", value(a.PromptFile), err)
	}
	again := must(t, p, Request{Mission: "m", Caller: Caller{Agent: "a"}, Result: cursor.Success, Token: "01KMB0MJYY10DBJNG3ZD7Q8500"})
	wantBlocked(t, again, "stale_token")
	if got := read(t, *must(t, p, report("b", cursor.Success, *first.Token)).PromptFile); got == want {
		t.Error("another step has the same prompt")
	}
}

// Any result on a mission without a run starts it. A second start finds the run.
func TestStartOnce(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	for _, result := range []cursor.Result{cursor.Failed} {
		wantStep(t, must(t, p, report("a", result)), "A")
	}
	_, err := p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{Agent: "b"}})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeRunExists || !strings.Contains(e.Message, "m (type t)") {
		t.Fatalf("error %v", err)
	}
	if _, err := p.Start(context.Background(), StartRequest{Slug: "m", Type: "other"}); !errors.As(err, &e) || e.Code != CodeUsage {
		t.Fatalf("error %v", err)
	}
}

// A changed definition is drift: the run goes on with what it froze. A changed
// comment is none.
func TestDrift(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	file := filepath.Join(root, "spec-kitty.toml")
	text := read(t, file)
	for change, drift := range map[string]bool{text + "\n# a comment\n": false, strings.Replace(text, `"C"`, `"D"`, 1): true} {
		write(t, file, change)
		a, err := open(t, root).Query(context.Background(), "m", Caller{Agent: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(a.Warnings) == 1 && a.Warnings[0].Code == "definition_drift"; got != drift {
			t.Errorf("drift %v, want %v: %v", got, drift, a.Warnings)
		}
	}
	p = open(t, root)
	for range 2 {
		must(t, p, report("a", cursor.Success))
	}
	if a := must(t, p, report("a", cursor.Success)); a.Kind != KindTerminal || completions(t, root, "C") != 1 {
		t.Errorf("kind %s", a.Kind)
	}
}
