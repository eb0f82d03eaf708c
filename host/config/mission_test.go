package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/mission"
)

const pluginsOf = `
[plugins.spec-lint]
wasm = "a.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
[plugins.scaffold]
wasm = "b.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
`

const devConfig = "schema = 1\n[missions.software-dev]\nfile = \"missions/dev.toml\"\n" + pluginsOf + commandsOf

const commandsOf = "[commands.unit-tests]\nrun = [\"x\"]\n[commands.in-worktree]\nrun = [\"x\"]\ncwd = \"workspace\"\n"

// devMission has every key that a definition may have.
const devMission = `[mission]
key = "software-dev"
version = "1.0.0"

[[steps]]
id = "specify"
title = "Specification"
description = "Define user scenarios and acceptance criteria"
prompt_template = "prompts/specify.md"     # text/template
profile = "researcher"
inputs = [{ key = "owner", question = "Who owns this?" }, { key = "db", question = "Which database?", options = ["postgres", "sqlite"], default = "sqlite" }]
guards = [
  { artifact = "spec.md", contains = "(?m)^## Success criteria", message = "Write the success criteria first" },
  { artifact = "docs/*.md", min_count = 3, min_bytes = 200, not_contains = "TBD" },
  { plugin = "spec-lint", with = { min_stories = 2, since = 2024-05-06, ratio = 1.5, deep = { on = true, list = [1, "x"] } } },
  { input = "db" },
  { work_packages = "WP01", lanes = ["done", "doing"] },
]
[steps.metadata]
colour = "blue"

[[steps]]
id = "implement"
action = "code"
depends_on = ["specify"]
retry = 2
prompt = "{{.Package.ID}}"
template = false
executor = { plugin = "scaffold", with = { layout = "hexagonal" } }
[steps.work_packages]
take = ["planned"]
claim = "in_progress"
success = "for_review"
failed = "planned"
until = ["for_review", "in_review", "approved", "done", "canceled"]
also = ["review"]
allow_none = true

[[steps]]
id = "review"
depends_on = ["implement"]
[steps.work_packages]
take = ["for_review"]
claim = "in_review"
success = "approved"
failed = "planned"
until = ["approved", "done", "canceled"]
also = ["implement"]
self_review = true

[[steps]]
id = "sum-up"
depends_on = ["review"]
[steps.executor]
plugin = "scaffold"
auto = true

[[audits]]
id = "release"
title = "Release audit"
question = "Ship it?"
depends_on = ["sum-up"]
enforcement = "blocking"
on_reject = "implement"
`

func devProject(t testing.TB) string {
	return project(t, map[string]string{FileName: devConfig, "missions/dev.toml": devMission,
		"missions/prompts/specify.md": "\xef\xbb\xbfSpecify {{.Mission.Slug}}\r\nwith {{.Inputs.db}}\r\n"})
}

func load(t testing.TB, root, name string) (*mission.Definition, Frozen) {
	t.Helper()
	cfg, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	def, frozen, err := LoadMission(cfg, name)
	if err != nil {
		t.Fatal(err)
	}
	return def, frozen
}

func TestLoadMission(t *testing.T) {
	sqlite := "sqlite"
	want := &mission.Definition{Key: "software-dev", Name: "software-dev", Version: "1.0.0", Steps: []mission.Step{
		{ID: "specify", Title: "Specification", Description: "Define user scenarios and acceptance criteria", Action: "specify", Profile: "researcher",
			Metadata: map[string]any{"colour": "blue"},
			Prompt:   &mission.Prompt{Text: "Specify {{.Mission.Slug}}\nwith {{.Inputs.db}}\n", Path: "missions/prompts/specify.md"},
			Inputs: []mission.Input{{Key: "owner", Question: "Who owns this?"},
				{Key: "db", Question: "Which database?", Options: []string{"postgres", "sqlite"}, Default: &sqlite}},
			Guards: []mission.Guard{
				{Artifact: &mission.ArtifactGuard{Path: "spec.md", Contains: "(?m)^## Success criteria"}, Message: "Write the success criteria first"},
				{Artifact: &mission.ArtifactGuard{Path: "docs/*.md", MinCount: 3, MinBytes: 200, NotContains: "TBD"}},
				{Plugin: &mission.PluginGuard{Plugin: "spec-lint", With: map[string]any{
					"min_stories": json.Number("2"), "since": "2024-05-06", "ratio": json.Number("1.5"),
					"deep": map[string]any{"on": true, "list": []any{json.Number("1"), "x"}}}}},
				{Input: "db"},
				{WorkPackages: &mission.PackageGuard{Package: "WP01", Lanes: []mission.Lane{mission.Done, mission.InProgress}}},
			}},
		{ID: "implement", Title: "implement", Action: "code", DependsOn: []string{"specify"}, Retry: 2,
			Prompt:   &mission.Prompt{Text: "{{.Package.ID}}", Literal: true},
			Executor: &mission.Executor{Plugin: "scaffold", With: map[string]any{"layout": "hexagonal"}},
			Packages: &mission.PackageRule{Take: []mission.Lane{"planned"}, Claim: "in_progress", Success: "for_review", Failed: "planned",
				Until: []mission.Lane{"for_review", "in_review", "approved", "done", "canceled"}, Also: []string{"review"}, AllowNone: true}},
		{ID: "review", Title: "review", Action: "review", DependsOn: []string{"implement"},
			Packages: &mission.PackageRule{Take: []mission.Lane{"for_review"}, Claim: "in_review", Success: "approved", Failed: "planned",
				Until: []mission.Lane{"approved", "done", "canceled"}, Also: []string{"implement"}, SelfReview: true}},
		{ID: "sum-up", Title: "sum-up", Action: "sum-up", DependsOn: []string{"review"}, Executor: &mission.Executor{Plugin: "scaffold", Auto: true}},
		{ID: "release", Title: "Release audit", Action: "release", DependsOn: []string{"sum-up"},
			Audit: &mission.Audit{Question: "Ship it?", Enforcement: mission.Blocking, OnReject: "implement"}},
	}}
	root := devProject(t)
	got, frozen := load(t, root, "software-dev")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	checkFrozen(t, got, frozen)
	if paths := []string{frozen.Files[0].Path, frozen.Files[1].Path}; cmp.Diff([]string{"missions/dev.toml", "missions/prompts/specify.md"}, paths) != "" {
		t.Errorf("files are %v", paths)
	}
	info, err := os.Stat(filepath.Join(root, "missions", "dev.toml"))
	if err != nil || frozen.Files[0].Size != info.Size() || !frozen.Files[0].ModTime.Equal(info.ModTime()) {
		t.Errorf("the definition's file is seen as %+v", frozen.Files[0])
	}
}

// checkFrozen reads a frozen definition and its index back.
func checkFrozen(t *testing.T, def *mission.Definition, frozen Frozen) {
	t.Helper()
	again, err := mission.Decode(frozen.Definition)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(def, again); diff != "" {
		t.Errorf("another definition was frozen:\n%s", diff)
	}
	index, err := mission.OpenIndex(bytes.NewReader(frozen.Index), int64(len(frozen.Index)))
	if err != nil {
		t.Fatal(err)
	}
	if frozen.Digest != def.Digest() || index.Digest() != frozen.Digest || frozen.IndexDigest != hexDigest(frozen.Index) {
		t.Error("the digests differ")
	}
	for pos := range def.Steps {
		step, err := index.Step(pos)
		if diff := cmp.Diff(def.Steps[pos], step); err != nil || diff != "" {
			t.Errorf("step %d: %v\n%s", pos, err, diff)
		}
	}
}

// TestLoadMissionInline is the smallest project of the documentation.
func TestLoadMissionInline(t *testing.T) {
	root := project(t, map[string]string{FileName: `schema = 1
[missions.hello]
steps = [
  { id = "write", prompt = "Write {{.Mission.Dir}}/hello.md" },
  { id = "check", prompt = "Read it again", guards = [{ artifact = "hello.md" }] },
]
`})
	def, frozen := load(t, root, "hello")
	if def.Key != "hello" || def.Name != "hello" || def.Version != "0.0.0" || def.Len() != 2 || def.Steps[1].Title != "check" {
		t.Errorf("%+v", def)
	}
	if deps, err := def.Deps(1); err != nil || cmp.Diff([]int{0}, deps) != "" {
		t.Errorf("without depends_on, order is the file's: %v, %v", deps, err)
	}
	checkFrozen(t, def, frozen)
}

// TestDigestOfDefinition: comments, spaces, the order of keys and line ends are
// no change; words are, also those of a prompt.
func TestDigestOfDefinition(t *testing.T) {
	digest := func(definition, prompt string) string {
		_, frozen := load(t, project(t, map[string]string{FileName: devConfig, "missions/dev.toml": definition, "missions/prompts/specify.md": prompt}), "software-dev")
		return frozen.Digest
	}
	const prompt = "Specify\n"
	want := digest(devMission, prompt)
	same := map[string]string{
		"comment":  "# changed\n" + devMission,
		"order":    strings.Replace(devMission, "key = \"software-dev\"\nversion = \"1.0.0\"", "version   =   '1.0.0'\nkey = \"software-dev\"", 1),
		"line end": strings.ReplaceAll(devMission, "\n", "\r\n"),
		"default":  strings.Replace(devMission, `title = "Release audit"`, `title = "Release audit"`+"\naction = \"release\"", 1),
	}
	for name, text := range same {
		if digest(text, prompt) != want {
			t.Errorf("%s: taken for a change", name)
		}
	}
	if digest(devMission, "Specify\r\n") != want {
		t.Error("line ends of a prompt: taken for a change")
	}
	if digest(devMission, "Specify it\n") == want || digest(strings.Replace(devMission, "retry = 2", "retry = 3", 1), prompt) == want {
		t.Error("a change was not seen")
	}
}

func TestLoadMissionPromptFiles(t *testing.T) {
	one := func(prompt string) string {
		return "[[steps]]\nid = \"a\"\nprompt_template = \"" + prompt + "\"\n"
	}
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ prompt, want string }{
		"below":      {"p.md", ""},
		"beside":     {"../shared/p.md", ""},
		"missing":    {"q.md", `missions/dev.toml:3: steps[0].prompt_template: "missions/q.md" does not exist`},
		"a folder":   {"folder", `missions/dev.toml:3: steps[0].prompt_template: cannot be read: missions/folder is a folder, not a regular file`},
		"outside":    {"../../p.md", `missions/dev.toml:3: steps[0].prompt_template: "../../p.md" leads out of the project; a path was expected that is relative to missions/dev.toml and below the project root`},
		"absolute":   {"/etc/passwd", `missions/dev.toml:3: steps[0].prompt_template: "/etc/passwd" is empty or absolute; a path was expected that is relative to missions/dev.toml and below the project root`},
		"link":       {"link.md", `missions/dev.toml:3: steps[0].prompt_template: cannot be read: missions/link.md is a link that leads out of its folder`},
		"not UTF-8":  {"bad.md", `missions/dev.toml:3: steps[0].prompt_template: "missions/bad.md" is not UTF-8`},
		"empty":      {"empty.md", `missions/dev.toml:3: steps[0].prompt_template: missions/empty.md: is empty`},
		"undefined":  {"undefined.md", `missions/dev.toml:3: steps[0].prompt_template: missions/undefined.md, line 2: undefined: .Misson; did you mean Mission?`},
		"empty path": {"", `missions/dev.toml:3: steps[0].prompt_template: "" is empty or absolute; a path was expected that is relative to missions/dev.toml and below the project root`},
	} {
		root := project(t, map[string]string{FileName: devConfig, "missions/dev.toml": one(c.prompt), "missions/p.md": "p", "shared/p.md": "p",
			"missions/folder/x": "", "missions/bad.md": "\xff", "missions/empty.md": "", "missions/undefined.md": "\n{{.Misson}}"})
		if err := os.Symlink(outside, filepath.Join(root, "missions", "link.md")); err != nil {
			t.Skip(err)
		}
		cfg, err := Load(root)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, _, err := LoadMission(cfg, "software-dev"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	files := map[string]string{
		FileName: "schema = 1\n[runtime]\nholder = \"who\"\n[missions.a]\nfile = \"a.toml\"\n[missions.b]\nfile = \"b.toml\"\n[missions.c]\nsteps = []\n" +
			"[plugins.p]\nwasm = \"p.wasm\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n[plugins.q]\nwasm = \"q.wasm\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n",
		"a.toml": "[[steps]]\nid = \"x\"\nretri = 1\n",
		"p.wasm": "bytes",
	}
	const want = `a.toml:3: steps[0].retri: unknown key retri in [[steps]]; did you mean retry?
spec-kitty.toml:3: runtime.holder: must be one of holder, any, not "who"
spec-kitty.toml:7: missions.b.file: "b.toml" does not exist
spec-kitty.toml:9: missions.c.steps: a definition needs at least one step
spec-kitty.toml:12: plugins.p.sha256: does not fit: the bytes of p.wasm hash to 277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9
spec-kitty.toml:14: plugins.q.wasm: "q.wasm" does not exist`
	_, _, err := Validate(project(t, files))
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var missing *NotFoundError
	if _, _, err := Validate(t.TempDir()); !errors.As(err, &missing) {
		t.Errorf("no project: %v", err)
	}
}

// TestValidateOwnProject: what the repository itself runs on is in order.
func TestValidateOwnProject(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, FileName)); err != nil {
		t.Skip(err)
	}
	if _, defs, err := Validate(root); err != nil || len(defs) == 0 {
		t.Errorf("%d definitions: %v", len(defs), err)
	}
}
