package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadMissionRefuses is field case 45: misspelled and misplaced keys, wrong
// types and settings without effect, all at once, with line and nearest name.
func TestLoadMissionRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `missions/dev.toml: steps: a definition needs at least one step`},
		{"misspelled", `[mision]
[[steps]]
id = "a"
gaurds = [{ input = "x" }]
depend_on = ["b"]
max_tick = 3
`, `missions/dev.toml:1: mision: unknown key mision; did you mean mission?
missions/dev.toml:4: steps[0].gaurds: unknown key gaurds in [[steps]]; did you mean guards?
missions/dev.toml:5: steps[0].depend_on: unknown key depend_on in [[steps]]; did you mean depends_on?
missions/dev.toml:6: steps[0].max_tick: unknown key max_tick in [[steps]]; the keys there are action, depends_on, description, executor, guards, id, inputs, metadata, profile, prompt, prompt_template, retry, template, title, work_packages`},
		{"slid down", `[[steps]]
id = "a"
[[steps.guards]]
artifact = "a.md"
retry = 2
[steps.executor]
plugin = "scaffold"
profile = "x"
[steps.work_packages]
take = ["planned"]
claim = "in_progress"
success = "for_review"
failed = "planned"
until = ["for_review"]
depends_on = ["b"]
`, `missions/dev.toml:5: steps[0].guards[0].retry: retry is a key of [[steps]], but stands inside [[steps.guards]]: move it up, above [[steps.guards]]
missions/dev.toml:8: steps[0].executor.profile: profile is a key of [[steps]], but stands inside [steps.executor]: move it up, above [steps.executor]
missions/dev.toml:15: steps[0].work_packages.depends_on: depends_on is a key of [[steps]], but stands inside [steps.work_packages]: move it up, above [steps.work_packages]`},
		{"wrong level", `key = "software-dev"
[[steps]]
id = "a"
question = "Who?"
on_reject = "a"
[[audits]]
id = "b"
question = "Ship?"
enforcement = "blocking"
[audits.work_packages]
`, `missions/dev.toml:1: key: key is a key of [mission]
missions/dev.toml:4: steps[0].question: unknown key question in [[steps]]; the keys there are action, depends_on, description, executor, guards, id, inputs, metadata, profile, prompt, prompt_template, retry, template, title, work_packages
missions/dev.toml:5: steps[0].on_reject: unknown key on_reject in [[steps]]; the keys there are action, depends_on, description, executor, guards, id, inputs, metadata, profile, prompt, prompt_template, retry, template, title, work_packages
missions/dev.toml:10: audits[0].work_packages: unknown key work_packages in [[audits]]; the keys there are action, depends_on, description, enforcement, executor, guards, id, inputs, metadata, on_reject, profile, prompt, prompt_template, question, retry, template, title`},
		{"types", `mission = { key = 1, version = 1.0 }
steps = [
  { id = "a", title = 1, depends_on = "b", retry = "2", inputs = { key = "k" }, metadata = 1, prompt = [] },
  { id = "b", retry = 1.5, guards = ["x", { artifact = 3 }, { artifact = ".." }], executor = "p" },
  7,
]
audits = 1
`, `missions/dev.toml:1: mission.key: text in quotes was expected, not a whole number
missions/dev.toml:1: mission.version: text in quotes was expected, not a number with a fraction
missions/dev.toml:3: steps[0].title: text in quotes was expected, not a whole number
missions/dev.toml:3: steps[0].depends_on: a list of texts was expected, not text
missions/dev.toml:3: steps[0].retry: a whole number was expected, not text
missions/dev.toml:3: steps[0].metadata: a table was expected, not a whole number
missions/dev.toml:3: steps[0].prompt: text in quotes was expected, not a list
missions/dev.toml:3: steps[0].inputs: a list of tables was expected, not a table
missions/dev.toml:4: steps[1].retry: a whole number was expected, not a number with a fraction
missions/dev.toml:4: steps[1].executor: a table was expected, not text
missions/dev.toml:4: steps[1].guards[0]: a table was expected, not text
missions/dev.toml:4: steps[1].guards[1].artifact: text in quotes was expected, not a whole number
missions/dev.toml:4: steps[1].guards[2].artifact: ".." leads out of the mission's folder
missions/dev.toml:5: steps[2]: a table was expected, not a whole number
missions/dev.toml:7: audits: a list of tables was expected, not a whole number`},
		{"prompts", `steps = [
  { id = "a", prompt = "x", prompt_template = "y.md" },
  { id = "b", template = true },
  { id = "c", prompt = "" },
]
`, `missions/dev.toml:2: steps[0].prompt_template: a step has one prompt: leave out prompt or prompt_template
missions/dev.toml:3: steps[1].template: has no effect without prompt or prompt_template
missions/dev.toml:4: steps[2].prompt: is empty`},
		{"guards", `[[steps]]
id = "a"
guards = [
  { },
  { message = "m" },
  { artifact = "a", plugin = "spec-lint" },
  { plugin = "spec-lnt" },
  { input = "x", contains = "y", lanes = ["done"], with = {} },
  { artifact = "a", min_bytes = 0, min_count = -1 },
  { work_packages = "WP01", lanes = "done" },
  { work_packages = "WP01", lanes = ["finished"] },
  { command = "unit-test" },
  { command = "in-worktree" },
  { command = "" },
  { event = "source_documented", min = 0 },
  { event = "" },
  { artifact = "a", min = 3 },
  { plugin = "" },
  { artifact = "a", contains = "(" },
]
`, `missions/dev.toml:4: steps[0].guards[0]: a guard needs one of artifact, plugin, input, work_packages, command and event
missions/dev.toml:5: steps[0].guards[1]: a guard needs one of artifact, plugin, input, work_packages, command and event
missions/dev.toml:6: steps[0].guards[2]: a guard is one of artifact, plugin: make it 2 guards
missions/dev.toml:7: steps[0].guards[3].plugin: names the plugin "spec-lnt", which is not in [plugins] of spec-kitty.toml; did you mean spec-lint?
missions/dev.toml:8: steps[0].guards[4].contains: has no effect on a guard of kind input: it belongs to artifact
missions/dev.toml:8: steps[0].guards[4].with: has no effect on a guard of kind input: it belongs to plugin
missions/dev.toml:8: steps[0].guards[4].lanes: has no effect on a guard of kind input: it belongs to work_packages
missions/dev.toml:8: steps[0].guards[4].input: no step asks for the input "x"
missions/dev.toml:9: steps[0].guards[5].min_bytes: must be from 1 to 16777216, not 0
missions/dev.toml:9: steps[0].guards[5].min_count: must be from 1 to 1000000, not -1
missions/dev.toml:10: steps[0].guards[6].lanes: a list of texts was expected, not text
missions/dev.toml:11: steps[0].guards[7].lanes[0]: there is no lane "finished"
missions/dev.toml:12: steps[0].guards[8].command: names the command "unit-test", which is not in [commands] of spec-kitty.toml; did you mean unit-tests?
missions/dev.toml:13: steps[0].guards[9].command: names the command "in-worktree", which works in a package's worktree (cwd = "workspace"), on a step without work packages: there is none
missions/dev.toml:14: steps[0].guards[10].command: is empty: the name of a command of [commands] was expected
missions/dev.toml:15: steps[0].guards[11].min: must be from 1 to 1000000, not 0
missions/dev.toml:16: steps[0].guards[12].event: is empty: the type of an event was expected
missions/dev.toml:17: steps[0].guards[13].min: has no effect on a guard of kind artifact: it belongs to event
missions/dev.toml:18: steps[0].guards[14].plugin: is missing: the name of a plugin
missions/dev.toml:19: steps[0].guards[15].contains: missing closing ): ` + "`(`"},
		{"references", `[[steps]]
id = "specify"
[[steps]]
id = "implement"
depends_on = ["specfy"]
executor = { plugin = "scafold" }
[[audits]]
id = "release"
question = "Ship?"
enforcement = "blocked"
on_reject = "implment"
depends_on = ["implement", "release"]
`, `missions/dev.toml:5: steps[1].depends_on[0]: there is no step "specfy"; did you mean specify?
missions/dev.toml:6: steps[1].executor.plugin: names the plugin "scafold", which is not in [plugins] of spec-kitty.toml; did you mean scaffold?
missions/dev.toml:10: audits[0].enforcement: must be blocking or advisory, not "blocked"
missions/dev.toml:11: audits[0].on_reject: there is no step "implment"; did you mean implement?
missions/dev.toml:12: audits[0].depends_on: steps wait for one another: release -> release`},
		{"numbers JSON has not", "[[steps]]\nid = \"a\"\nexecutor = { plugin = \"scaffold\", with = { a = nan, b = { c = [inf] } } }\n",
			`missions/dev.toml:3: steps[0].executor.with.a: NaN cannot be passed on: plugins are given JSON, which has no such number
missions/dev.toml:3: steps[0].executor.with.b.c[0]: +Inf cannot be passed on: plugins are given JSON, which has no such number`},
		{"key", "[mission]\nkey = \"other\"\n[[steps]]\nid = \"a\"\n", `missions/dev.toml:2: mission.key: "other" differs from the table's name "software-dev": a mission type has one name`},
		{"syntax", "[[steps]]\nid = a\n", `missions/dev.toml:2: steps.id: expected value but found "a" instead`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Load(project(t, map[string]string{FileName: devConfig, "missions/dev.toml": c.text, "missions/y.md": "y"}))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = LoadMission(cfg, "software-dev")
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("no *InvalidError: %v", err)
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadMissionFileTrouble(t *testing.T) {
	root := project(t, map[string]string{FileName: devConfig, "missions/dev.toml/x": ""})
	cfg, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	const want = `spec-kitty.toml:3: missions.software-dev.file: cannot be read: missions/dev.toml is a folder, not a regular file`
	if _, _, err := LoadMission(cfg, "software-dev"); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
