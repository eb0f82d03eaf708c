package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
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

// The refusal names the prompt's file and the line in it.
func TestPromptFileThatCannotBeRendered(t *testing.T) {
	root := makeProject(t, "[missions.t]\nfile = \"missions/t.toml\"", nil)
	write(t, filepath.Join(root, "missions", "t.toml"), "steps = [{ id = \"A\" }, { id = \"B\", prompt_template = \"prompts/b.md\" }]\n")
	write(t, filepath.Join(root, "missions", "prompts", "b.md"), "# B\n\n{{slice .Mission.Slug 5}}\n")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "prompt_failed")
	if !strings.Contains(*a.Reason, "missions/prompts/b.md, line 3") {
		t.Errorf("the place is not named: %s", *a.Reason)
	}
}

// A prompt file that was deleted is written again by any report that finds it
// missing, with the same content; a query shows null.
func TestDeletedPromptComesBack(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ artifact = "a.md" }], prompt = "Do {{.Step.ID}}, attempt {{.Step.Attempt}}: {{.Report}}" }, { id = "B" }]`, nil)
	p := open(t, root)
	first := must(t, p, report("a", cursor.Success))
	want := read(t, *first.PromptFile)
	if err := os.Remove(*first.PromptFile); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Query(context.Background(), "m", Caller{Agent: "a"}); err != nil || a.PromptFile != nil {
		t.Fatalf("query: %v %v", value(a.PromptFile), err)
	}
	again := must(t, p, report("a", cursor.Success))
	wantBlocked(t, again, "guard_refused")
	if got := read(t, value(again.PromptFile)); got != want {
		t.Errorf("the prompt came back as %q, was %q", got, want)
	}
	write(t, filepath.Join(root, "kitty-specs", "m", "a.md"), "done")
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

// Any damage of the definition's index is healed: a query reads the definition
// itself, and the next report makes the index anew.
func TestDamagedIndexHeals(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	p.Close()
	index := only(t, root, "definition.index")
	sound := read(t, index)
	for at := range len(sound) {
		bytes := []byte(sound)
		bytes[at] ^= 1
		if err := os.WriteFile(index, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		p := open(t, root)
		a, err := p.Query(context.Background(), "m", Caller{Agent: "a"})
		if err != nil || value(a.StepID) != "A" {
			t.Fatalf("byte %d: step %s, %v", at, value(a.StepID), err)
		}
		p.Close()
	}
	if err := os.WriteFile(index, []byte(sound[:len(sound)-2]+"xx"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		must(t, open(t, root), report("a", cursor.Success))
	}
	wantSound(t, open(t, root))
}

// What the run froze of a plugin is what it goes on with: other grants or other
// bytes are damage, for a report and for verify.
func TestForgedPluginIsDamage(t *testing.T) {
	for _, file := range []string{"plugins.json", "plugins/*.wasm"} {
		for _, forged := range []string{"{}", "", "garbage"} {
			root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "refuse" }] }, { id = "B" }]`, nil, "refuse")
			p := open(t, root)
			must(t, p, report("a", cursor.Success))
			before := journal(t, root)
			if err := os.WriteFile(only(t, root, file), []byte(forged), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := p.Next(context.Background(), report("a", cursor.Success))
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeStateDamaged || journal(t, root) != before {
				t.Errorf("%s with %q: %v", file, forged, err)
			}
			if v, err := p.Verify(context.Background(), "m"); err != nil || v.Sound {
				t.Errorf("%s with %q: sound %v, %v", file, forged, v.Sound, err)
			}
		}
	}
}

// only is the one file of a name in the only run.
func only(t *testing.T, root, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, ".kittify", "step-runner", "runs", "*", name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", name, found, err)
	}
	return found[0]
}

// A prompt that cannot be rendered at the first step keeps the run from being
// started: nothing is left.
func TestFirstPromptThatCannotBeRendered(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", prompt = "{{slice .Inputs.k 0 9}}", inputs = [{ key = "k", question = "?" }] }]`, nil)
	p := open(t, root)
	a, err := p.Start(context.Background(), StartRequest{Slug: "new", Type: "t", Caller: Caller{Agent: "a"}, Inputs: map[string]string{"k": "abc"}})
	if err != nil {
		t.Fatal(err)
	}
	wantBlocked(t, a, "prompt_failed")
	if !missing(filepath.Join(root, "kitty-specs", "new")) || !missing(filepath.Join(root, ".kittify")) {
		t.Error("a refused start left something")
	}
}

// A mission whose folder is gone is found by its run: it can be looked at,
// aborted, and started again.
func TestMissionFolderGone(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	if err := os.RemoveAll(filepath.Join(root, "kitty-specs", "m")); err != nil {
		t.Fatal(err)
	}
	p = open(t, root)
	if a, err := p.Query(context.Background(), "m", Caller{Agent: "a"}); err != nil || value(a.StepID) != "A" {
		t.Fatalf("query: %v", err)
	}
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	if _, err := p.Abort(context.Background(), OperatorRequest{Mission: "m", Actor: "human:me", Reason: "gone"}); err != nil {
		t.Fatal(err)
	}
	a, err := p.Start(context.Background(), StartRequest{Slug: "m", Caller: Caller{Agent: "a"}, Again: true})
	if err != nil || value(a.StepID) != "A" {
		t.Fatalf("start --again: %v", err)
	}
}

// Names of missions that differ only by the case of letters clash.
func TestCaseClash(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	_, err := p.Start(context.Background(), StartRequest{Slug: "M", Caller: Caller{Agent: "a"}})
	if err == nil || err.(*Error).Code != CodeUsage {
		t.Errorf("error %v", err)
	}
}

// Twelve first calls at once: one starts the run and has its step, the others
// are told who has it.
func TestFirstCallsAtOnce(t *testing.T) {
	hands := make([]*hand, 6)
	for i := range hands {
		hands[i] = startHand(t)
	}
	for range rounds(t, 60) {
		root := makeProject(t, linear, nil)
		orders := make([]order, len(hands))
		for i := range orders {
			q := report("agent-"+string(rune('a'+i)), cursor.Success)
			orders[i] = order{Root: root, Request: &q}
		}
		won := 0
		for _, a := range together(hands, orders) {
			if a.Kind == KindStep {
				won++
				continue
			}
			wantBlocked(t, a, "not_holder")
		}
		if won != 1 || completions(t, root, "A") != 0 {
			t.Fatalf("%d won", won)
		}
	}
}

// Ctrl-C while a plugin runs is the caller's doing, not the plugin's.
func TestCanceledCallBlamesNobody(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", guards = [{ plugin = "loop" }] }, { id = "B", executor = { plugin = "loop" } }]`, nil, "loop")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	ctx, cancel := context.WithCancel(context.Background())
	caller := open(t, root, func(o *Options) {
		o.Hook = func(point string) {
			if point == PointRead {
				time.AfterFunc(20*time.Millisecond, cancel)
			}
		}
	})
	if _, err := caller.Next(ctx, report("a", cursor.Success)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// atDisk calls something at each look at the disk.
type atDisk struct {
	durable.Disk
	look func()
}

func (d atDisk) Stat(path string) (fs.FileInfo, error) {
	d.look()
	return d.Disk.Stat(path)
}

// Two start one new mission. The one that made its folder finds that the other was
// first: the folder is where the other's run works, and stays.
func TestFolderIsTheWinners(t *testing.T) {
	root := makeProject(t, linear, nil)
	meta := filepath.Join(root, "kitty-specs", "new", "meta.json")
	first, won := open(t, root), false
	second := open(t, root, func(o *Options) {
		o.Commit.Disk = atDisk{durable.OS(), func() {
			if won || missing(meta) {
				return
			}
			won = true
			a, err := first.Start(t.Context(), StartRequest{Slug: "new", Caller: Caller{Agent: "a"}})
			if err != nil {
				t.Errorf("the first start: %v", err)
			}
			wantStep(t, a, "A")
		}}
	})
	_, err := second.Start(t.Context(), StartRequest{Slug: "new", Caller: Caller{Agent: "b"}})
	if known := new(Error); !errors.As(err, &known) || known.Code != CodeRunExists || !won {
		t.Fatalf("error %v, the other won: %v", err, won)
	}
	if !strings.Contains(read(t, meta), `"mission_type": "t"`) {
		t.Error("the mission's meta.json is another one")
	}
}

// syncedDirs notes the folders whose names were made durable.
type syncedDirs struct {
	durable.Disk
	dirs *[]string
}

func (d syncedDirs) SyncDir(path string) error {
	*d.dirs = append(*d.dirs, path)
	return d.Disk.SyncDir(path)
}

// P3: the folder of a mission is durable before the run that works in it is
// acknowledged.
func TestFolderIsDurable_P3(t *testing.T) {
	root := makeProject(t, linear, nil)
	var synced []string
	p := open(t, root, func(o *Options) { o.Commit.Disk = syncedDirs{durable.OS(), &synced} })
	if _, err := p.Start(t.Context(), StartRequest{Slug: "new", Caller: Caller{Agent: "a"}}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.Config.SpecsDir(), filepath.Join(p.Config.SpecsDir(), "new")} {
		if !slices.Contains(synced, dir) {
			t.Errorf("the names in %s were not synced, only those in %v", dir, synced)
		}
	}
}

// A sound index of another definition, as from another run's folder, is a wrong one:
// it steers nothing, and the next report makes it anew.
func TestIndexOfAnotherDefinitionHeals(t *testing.T) {
	root, other := makeProject(t, linear, nil), makeProject(t, "[missions.t]\nsteps = [{ id = \"X\" }, { id = \"Y\" }]", nil)
	for _, root := range []string{root, other} {
		must(t, open(t, root), report("a", cursor.Success))
	}
	sound := read(t, only(t, root, "definition.index"))
	write(t, only(t, root, "definition.index"), read(t, only(t, other, "definition.index")))
	a, err := open(t, root).Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil || value(a.StepID) != "A" {
		t.Fatalf("step %s, %v", value(a.StepID), err)
	}
	wantStep(t, must(t, open(t, root), report("a", cursor.Success)), "B")
	if read(t, only(t, root, "definition.index")) != sound {
		t.Error("the index was not made anew")
	}
}

// A run goes on with what it froze: another definition in its place is damage, also
// where it is read whole, as its index is gone, and no index is made of it.
func TestForgedDefinitionIsDamage(t *testing.T) {
	root := makeProject(t, linear, nil)
	must(t, open(t, root), report("a", cursor.Success))
	file := only(t, root, "definition.json")
	write(t, file, strings.Replace(read(t, file), `"id":"A"`, `"id":"Z"`, 1))
	if err := os.Remove(only(t, root, "definition.index")); err != nil {
		t.Fatal(err)
	}
	p := open(t, root)
	_, query := p.Query(t.Context(), "m", Caller{Agent: "a"})
	_, next := p.Next(t.Context(), report("a", cursor.Success))
	for what, err := range map[string]error{"query": query, "report": next} {
		if known := new(Error); !errors.As(err, &known) || known.Code != CodeStateDamaged {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !missing(filepath.Join(filepath.Dir(file), "definition.index")) {
		t.Error("an index was made of what the run did not freeze")
	}
}

// A changed prompt is a changed definition, also when the verdict on the files as they
// were was kept: its file is looked at too.
func TestDriftOfAPrompt(t *testing.T) {
	root := makeProject(t, "[missions.t]\nfile = \"missions/t.toml\"", nil)
	toml, prompt := filepath.Join(root, "missions", "t.toml"), filepath.Join(root, "missions", "a.md")
	write(t, toml, "steps = [{ id = \"A\", prompt_template = \"a.md\" }, { id = \"B\" }]\n")
	write(t, prompt, "Do A.\n")
	old := time.Now().Add(-time.Hour)
	for _, file := range []string{toml, prompt} {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if a := must(t, open(t, root), report("a", cursor.Success)); len(a.Warnings) != 0 {
		t.Fatalf("warnings %v", a.Warnings)
	}
	write(t, prompt, "Do A with care.\n")
	a, err := open(t, root).Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil || len(a.Warnings) != 1 || a.Warnings[0].Code != driftCode {
		t.Errorf("warnings %v, %v", a.Warnings, err)
	}
}

// The status of many missions leaves none of them open: a project may have more than
// a process may have files.
func TestStatusLeavesNothingOpen(t *testing.T) {
	root := makeProject(t, linear, nil)
	must(t, open(t, root), report("a", cursor.Success))
	p := open(t, root)
	all, broken, err := p.Status(t.Context(), "")
	if err != nil || len(all) != 1 || len(broken) != 0 || len(all[0].Issues) != 1 {
		t.Fatalf("%v, %v, %v", all, broken, err)
	}
	if len(p.open) != 0 {
		t.Errorf("%d runs stay open", len(p.open))
	}
}

// A rewind beside one that takes back the step that it is about is told so.
func TestRewindBesideARewind(t *testing.T) {
	root := makeProject(t, linear, nil)
	peer := open(t, root)
	for range 3 {
		must(t, peer, report("a", cursor.Success))
	}
	back := RewindRequest{Mission: "m", Actor: "human:me", Step: "A", Reason: "again"}
	p := open(t, root, peerAt(PointRead, func() {
		if _, refused, err := peer.Rewind(t.Context(), back); refused != nil || err != nil {
			t.Errorf("the peer: %v %v", refused, err)
		}
	}))
	later := back
	later.Step = "B"
	_, refused, err := p.Rewind(t.Context(), later)
	if err != nil || refused == nil {
		t.Fatalf("%v, %v", refused, err)
	}
	wantBlocked(t, *refused, "cursor_moved", "stale_plan")
}

// A blank reason is none.
func TestDiscardWantsAReason(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	_, err := p.Publish(t.Context(), OperatorRequest{Mission: "m", Actor: "human:me", Discard: true, Reason: " \n"})
	if known := new(Error); !errors.As(err, &known) || known.Code != CodeUsage {
		t.Errorf("error %v", err)
	}
}
