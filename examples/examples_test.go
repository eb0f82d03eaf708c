package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

const slug = "001-hello-cli"

func load(t *testing.T, root, missionType string) (*config.Config, *mission.Definition) {
	t.Helper()
	cfg, err := config.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	def, _, err := config.LoadMission(cfg, missionType)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, def
}

func TestEveryExampleIsValid(t *testing.T) {
	for root, want := range map[string]string{"..": "software-dev", "hello": "hello"} {
		_, defs, err := config.Validate(root)
		if err != nil {
			t.Errorf("%s: %v", root, err)
		}
		if defs[want] == nil {
			t.Errorf("%s does not define %s", root, want)
		}
	}
}

// The loops are walked from create to done by a script of cmd/spec-kitty.
func TestLoopsAreValid(t *testing.T) {
	cfg, err := config.Load("loops")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deps", "notes"} {
		if def, err := config.LoadLoop(cfg, name); err != nil || def.Description == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSoftwareDevHasSevenSteps(t *testing.T) {
	_, def := load(t, "..", "software-dev")
	var ids []string
	for _, step := range def.Steps {
		ids = append(ids, step.ID)
	}
	want := "discovery specify plan tasks implement review accept"
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
}

// Every prompt of every step comes out, with and without feedback, and tells how
// to report.
func TestPromptsComeOut(t *testing.T) {
	cfg, def := load(t, "..", "software-dev")
	m, packages := readMission(t, cfg)
	for _, step := range def.Steps {
		for _, feedback := range []string{"", "The tests fail on an empty name."} {
			data := promptData(m, step, feedback)
			if step.Packages != nil {
				p := packages[0]
				data.Package = &mission.PackageData{ID: p.ID, Title: p.Title, Body: p.Body, Path: p.Path}
			}
			text, err := mission.Render(step.Prompt, data)
			if err != nil {
				t.Errorf("%s: %v", step.ID, err)
			}
			for _, part := range []string{data.Report, feedback} {
				if !strings.Contains(text, part) {
					t.Errorf("the prompt of %s does not say %q", step.ID, part)
				}
			}
		}
	}
}

func promptData(m lanes.Mission, step mission.Step, feedback string) mission.PromptData {
	data := mission.PromptData{
		Run:      mission.RunData{ID: "01KQ7V3M9Z4T8B2D6F0H5J1N3S"},
		Mission:  mission.MissionData{Slug: m.Slug, Type: m.Type, Dir: m.Dir, Number: m.Number},
		Step:     mission.StepData{ID: step.ID, Title: step.Title, Description: step.Description, Action: step.Action, Attempt: 1},
		Inputs:   map[string]string{},
		Feedback: feedback,
		Report:   "spec-kitty next --mission 001-hello-cli --agent you --result success --token 01KQ",
	}
	for _, in := range step.Inputs {
		if in.Default != nil {
			data.Inputs[in.Key] = *in.Default
		}
	}
	return data
}

func readMission(t *testing.T, cfg *config.Config) (lanes.Mission, []lanes.Package) {
	t.Helper()
	m, err := lanes.Resolve(cfg.SpecsDir(), slug)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := lanes.NewReader(m.Dir).Packages()
	if err != nil {
		t.Fatal(err)
	}
	return m, packages
}

func TestMissionHasThreePackages(t *testing.T) {
	cfg, _ := load(t, "..", "software-dev")
	m, packages := readMission(t, cfg)
	if m.Type != "software-dev" || m.Number != "1" || len(m.ID) != 26 {
		t.Errorf("mission %+v", m)
	}
	if len(packages) != 3 || strings.Join(packages[2].DependsOn, " ") != "WP01 WP02" {
		t.Errorf("packages %+v, want three, the last after the others", packages)
	}
	if source, err := lanes.Choose(lanes.Auto, m.Dir); err != nil || source != lanes.Journal {
		t.Errorf("lanes from %s, %v; want the journal", source, err)
	}
}

// artifacts are what somebody writes who follows the prompts, by step.
func artifacts() map[string]map[string]string {
	return map[string]map[string]string{
		"discovery": {"research.md": "# Research\n\n## Findings\n\n- There is no program yet.\n\n## Constraints\n\n- Go only.\n\n## Open questions\n\nnone\n"},
		"specify":   {"spec.md": "# Hello\n\n## User stories\n\n### User story 1\n\nAs a visitor I want a greeting.\n\n## Requirements\n\n- **FR-001**: It MUST greet.\n\n## Success criteria\n\n- **SC-001**: It greets in under a second.\n"},
		"plan":      {"plan.md": "# Plan\n\n## Structure\n\n- main.go\n\n## Decisions\n\n- The standard library is enough.\n\n## Tests\n\n- SC-001: TestGreet\n"},
		"tasks":     {"tasks.md": "- WP01 greeting\n- WP02 arguments\n- WP03 program\n"},
		"accept":    {"acceptance.md": "SC-001: tried it, 3 ms.\n\nVerdict: accepted\n"},
	}
}

// Each step's built-in guards refuse before its artifact is written and allow
// after: a newcomer who does what the prompts say comes to the end.
func TestGuardsWantWhatThePromptsAsk(t *testing.T) {
	cfg, def := load(t, "..", "software-dev")
	m, _ := readMission(t, cfg)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, lanes.TasksFolder), os.DirFS(filepath.Join(m.Dir, lanes.TasksFolder))); err != nil {
		t.Fatal(err)
	}
	written := artifacts()
	for _, step := range def.Steps {
		if step.Packages != nil {
			continue
		}
		if guard.Passed(builtIn(dir, step)) {
			t.Errorf("%s passes with nothing written", step.ID)
		}
		for name, text := range written[step.ID] {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range builtIn(dir, step) {
			if r.Verdict != guard.Allow {
				t.Errorf("%s: %s", step.ID, r.Sentence())
			}
		}
	}
}

func builtIn(dir string, step mission.Step) []guard.Result {
	given := guard.Given{Folder: guard.Folder{Dir: dir}, Inputs: promptData(lanes.Mission{}, step, "").Inputs}
	var results []guard.Result
	for _, g := range step.Guards {
		if r, ok := guard.Evaluate(g, given); ok {
			results = append(results, r)
		}
	}
	return results
}

// The pins are those of the bytes beside the sources.
func TestPinsAreThoseOfTheBytes(t *testing.T) {
	cfg, _ := load(t, "..", "software-dev")
	data, err := os.ReadFile(filepath.Join("plugins", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if sum, path, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums["examples/plugins/"+path] = sum
		}
	}
	for name, p := range cfg.Plugins {
		if sums[p.Wasm] == "" || sums[p.Wasm] != p.SHA256 {
			t.Errorf("plugin %s is pinned to %s, its bytes hash to %s", name, p.SHA256, sums[p.Wasm])
		}
	}
}
