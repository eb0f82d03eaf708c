package runner

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// packed is a run with a frozen plugin, as it is carried.
func packed(t *testing.T) archive.Run {
	t.Helper()
	p := open(t, makeProject(t, composed, nil, "success"))
	wantStep(t, must(t, p, report("a", cursor.Success)), "A")
	run, err := p.Pack(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// P3: what comes in is what went out, or is refused by name before anything is
// made.
func TestImportRefusesWhatIsNotTheRun(t *testing.T) {
	good := packed(t)
	for name, tt := range map[string]struct {
		spoil func(*archive.Run)
		want  string
	}{
		"another revision":     {func(r *archive.Run) { r.Revision++ }, "another history"},
		"another digest":       {func(r *archive.Run) { r.Digest = strings.Repeat("0", 64) }, "another history"},
		"another type":         {func(r *archive.Run) { r.Type = "else" }, "another history"},
		"another plugin":       {func(r *archive.Run) { each(r, ".wasm", []byte("\x00asm\x01\x00\x00\x00")) }, "is not what the run froze"},
		"more granted":         {func(r *archive.Run) { each(r, blobPlugins, []byte("{}")) }, "is not what the run froze"},
		"another definition":   {func(r *archive.Run) { each(r, blobDefinition, []byte("{}")) }, "is not what the run froze"},
		"a frozen file less":   {func(r *archive.Run) { delete(r.Frozen, blobPlugins) }, "cannot be read"},
		"a history cut short":  {func(r *archive.Run) { r.Journal = nil }, "no good first record"},
		"a file of our own":    {func(r *archive.Run) { r.Frozen["state.json"] = nil }, "the run's own"},
		"a file outside of it": {func(r *archive.Run) { r.Frozen["../state"] = nil }, "use letters"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			bad.Frozen = map[string][]byte{}
			for name, data := range good.Frozen {
				bad.Frozen[name] = data
			}
			tt.spoil(&bad)
			p := open(t, makeProject(t, composed, nil, "success"))
			_, err := p.Import(t.Context(), written(t, bad))
			var known *Error
			if !errors.As(err, &known) || known.Code != CodeStateDamaged || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if _, err := os.Stat(p.Config.StateRoot()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was made: %v", err)
			}
		})
	}
}

// An imported run goes on: with its token, its plugins and its definition.
func TestImportGoesOn(t *testing.T) {
	good := packed(t)
	p := open(t, makeProject(t, linear, nil))
	done, err := p.Import(t.Context(), written(t, good))
	if err != nil || !done.Imported || len(done.Warnings) > 0 {
		t.Fatalf("%+v %v", done, err)
	}
	wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	wantSound(t, p)
	if again, err := p.Import(t.Context(), written(t, good)); err == nil {
		t.Errorf("an older copy was taken in: %+v", again)
	}
}

func each(r *archive.Run, suffix string, data []byte) {
	for name := range r.Frozen {
		if strings.HasSuffix(name, suffix) {
			r.Frozen[name] = data
		}
	}
}

func written(t *testing.T, run archive.Run) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Write(&out, run); err != nil {
		t.Fatal(err)
	}
	return &out
}

// FR-011: an answer that a person replaces while an agent holds the work leaves
// that agent a prompt with the new answer, which its query shows.
func TestReplacedAnswerHasItsPrompt(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A", inputs = [{ key = "owner", question = "Who?" }], prompt = "For {{.Inputs.owner}}." }]`, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	first, second := "ann", "ben"
	must(t, p, Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: &first, Result: cursor.Success})
	_, err := p.Decide(t.Context(), Request{Mission: "m", Caller: Caller{Human: "kim"}, Decision: "input:owner",
		Answer: &second, Replace: true, Reason: "she left"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Query(t.Context(), "m", Caller{Agent: "a"})
	if err != nil || a.PromptFile == nil || len(a.Warnings) != 0 {
		t.Fatalf("query: prompt %s, warnings %v, %v", value(a.PromptFile), a.Warnings, err)
	}
	if got := read(t, *a.PromptFile); got != "For ben.\n" && got != "For ben." {
		t.Errorf("the prompt is %q", got)
	}
}

// A mission or a run that has no name is a damaged archive, not a fault of the program.
func TestArchiveOfWhatHasNoName(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	run, err := p.Pack(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"../x", run.ID}, {"", run.ID}, {run.Mission, "../x"}, {run.Mission, ""}} {
		bad := run
		bad.Mission, bad.ID = c[0], c[1]
		var raw bytes.Buffer
		if err := archive.Write(&raw, bad); err != nil {
			continue // it is not even written
		}
		_, err := p.Import(t.Context(), &raw)
		if known := new(Error); !errors.As(err, &known) || known.Code != CodeStateDamaged {
			t.Errorf("%q: %v", c, err)
		}
	}
}
