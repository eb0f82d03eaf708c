package mission

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(s string) *string { return &s }

// good is a definition of every kind of step, without a fault.
func good() *Definition {
	review := PackageRule{Take: []Lane{ForReview}, Claim: InReview, Success: Approved, Failed: Planned, Until: []Lane{Approved, Done, Canceled}, Also: []string{"implement"}, SelfReview: true}
	implement := PackageRule{Take: []Lane{Planned}, Claim: InProgress, Success: ForReview, Failed: Planned, Until: []Lane{ForReview, InReview, Approved, Done, Canceled}, Also: []string{"review"}}
	return &Definition{Key: "software-dev", Name: "Software", Version: "1.0.0", Steps: []Step{
		{ID: "specify", Title: "Specification", Action: "specify",
			Prompt: &Prompt{Text: "Write {{.Mission.Dir}}/spec.md for {{.Inputs.db}}"},
			Inputs: []Input{{Key: "owner", Question: "Who?"}, {Key: "db", Question: "Which?", Options: []string{"pg", "lite"}, Default: text("lite")}},
			Guards: []Guard{
				{Artifact: &ArtifactGuard{Path: "spec.md", Contains: "(?m)^## S"}},
				{Artifact: &ArtifactGuard{Path: "docs/*.md", MinCount: 3}},
				{Plugin: &PluginGuard{Plugin: "lint", With: map[string]any{"n": json.Number("2")}}},
				{Input: "db"},
				{WorkPackages: &PackageGuard{Package: "WP01", Lanes: []Lane{Done}}},
			}},
		{ID: "implement", Action: "implement", DependsOn: []string{"specify"}, Retry: 2, Packages: &implement,
			Prompt: &Prompt{Text: "{{.Package.ID}}: {{.Package.Body}}"}},
		{ID: "review", Action: "review", DependsOn: []string{"implement"}, Packages: &review},
		{ID: "sum-up", Action: "sum-up", DependsOn: []string{"review"}, Executor: &Executor{Plugin: "sum", Auto: true}},
		{ID: "release", Action: "release", DependsOn: []string{"sum-up"}, Audit: &Audit{Question: "Ship it?", Enforcement: Blocking, OnReject: "implement"}},
		{ID: "look", Action: "look", DependsOn: []string{"release"}, Audit: &Audit{Enforcement: Advisory}, Retry: 1},
	}}
}

func TestCheckAcceptsEveryKindOfStep(t *testing.T) {
	if problems := good().Check(); problems != nil {
		t.Fatalf("%v", problems)
	}
	if got, want := good().Plugins(), []string{"lint", "sum"}; cmp.Diff(want, got) != "" {
		t.Errorf("plugins are %v", got)
	}
}

// TestCheck breaks one thing at a time. Settings without effect are field case
// 45.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(d *Definition)
		want  string // path: message [near]
	}{
		{"no steps", func(d *Definition) { d.Steps = nil }, `steps: a definition needs at least one step`},
		{"key", func(d *Definition) { d.Key = "a b" }, `key: the name "a b" may hold only letters, digits, -, _ and ., not ' '`},
		{"name", func(d *Definition) { d.Name = "a\x1b[2J" }, `name: must be one line without control characters`},
		{"no id", func(d *Definition) { d.Steps[5].ID = "" }, `audits[1].id: is missing`},
		{"bad id", func(d *Definition) { d.Steps[5].ID = "nul" }, `audits[1].id: the name "nul" is reserved for a device on Windows`},
		{"id twice", func(d *Definition) { d.Steps[5].ID = "release" }, `audits[1].id: "release" is taken: audits[0] has it too`},
		{"id but for case", func(d *Definition) { d.Steps[5].ID = "Specify" }, `audits[1].id: "Specify" differs from "specify" only in letter case`},
		{"audit first", func(d *Definition) { d.Steps[4], d.Steps[5] = d.Steps[5], d.Steps[4]; d.Steps[5].Audit = nil },
			`audits[1]: steps come before audits`},
		{"title", func(d *Definition) { d.Steps[0].Title = "a\nb" }, `steps[0].title: must be one line without control characters`},
		{"description", func(d *Definition) { d.Steps[0].Description = "a\n\tb\x07" }, `steps[0].description: may not hold control characters`},
		{"metadata", func(d *Definition) { d.Steps[0].Metadata = map[string]any{"n": math.NaN()} }, `steps[0].metadata: cannot be written as JSON: json: unsupported value: NaN`},
		{"dependency", func(d *Definition) { d.Steps[1].DependsOn = []string{"specfy"} }, `steps[1].depends_on[0]: there is no step "specfy" [specify]`},
		{"dependency twice", func(d *Definition) { d.Steps[1].DependsOn = []string{"specify", "specify"} }, `steps[1].depends_on[1]: "specify" stands here twice`},
		{"retry", func(d *Definition) { d.Steps[0].Retry = 101 }, `steps[0].retry: must be from 0 to 100, not 101`},
		{"negative retry", func(d *Definition) { d.Steps[0].Retry = -1 }, `steps[0].retry: must be from 0 to 100, not -1`},

		{"input key", func(d *Definition) { d.Steps[0].Inputs[0].Key = "an owner" }, `steps[0].inputs[0].key: the input key "an owner" may hold only letters, digits and _, not ' '`},
		{"input twice", func(d *Definition) { d.Steps[0].Inputs = append(d.Steps[0].Inputs, d.Steps[0].Inputs[0]) }, `steps[0].inputs[2].key: "owner" stands here twice`},
		{"no question", func(d *Definition) { d.Steps[0].Inputs[0].Question = " " }, `steps[0].inputs[0].question: is missing: an input without a default is asked for`},
		{"default outside", func(d *Definition) { d.Steps[0].Inputs[1].Default = text("lit") }, `steps[0].inputs[1].default: "lit" is none of the options [lite]`},
		{"default empty", func(d *Definition) { d.Steps[0].Inputs[1].Default = text("") }, `steps[0].inputs[1].default: is empty: leave it out to be asked`},
		{"option twice", func(d *Definition) { d.Steps[0].Inputs[1].Options = []string{"lite", "lite"} }, `steps[0].inputs[1].options[1]: "lite" stands here twice`},
		{"option empty", func(d *Definition) { d.Steps[0].Inputs[1].Options = []string{"lite", ""} }, `steps[0].inputs[1].options[1]: is empty`},
		{"other question", func(d *Definition) { d.Steps[1].Inputs = []Input{{Key: "owner", Question: "Whose?"}} }, `steps[1].inputs[0].question: differs from that of steps[0].inputs[0]: one key is one question`},
		{"other options", func(d *Definition) {
			d.Steps[1].Inputs = []Input{{Key: "owner", Question: "Who?", Options: []string{"me"}}}
		}, `steps[1].inputs[0].options: differ from those of steps[0].inputs[0]: one key is one question`},
		{"other default", func(d *Definition) {
			d.Steps[1].Inputs = []Input{{Key: "owner", Question: "Who?", Default: text("me")}}
		}, `steps[1].inputs[0].default: differs from that of steps[0].inputs[0]: one key is one question`},

		{"guard of no kind", func(d *Definition) { d.Steps[0].Guards = []Guard{{}} }, `steps[0].guards[0]: a guard is one of artifact, plugin, input, work_packages, command and event, and this is 0 of them`},
		{"guard of two kinds", func(d *Definition) { d.Steps[0].Guards[3].Plugin = &PluginGuard{Plugin: "lint"} }, `steps[0].guards[3]: a guard is one of artifact, plugin, input, work_packages, command and event, and this is 2 of them`},
		{"guard's input", func(d *Definition) { d.Steps[0].Guards[3].Input = "bd" }, `steps[0].guards[3].input: no step asks for the input "bd" [db]`},
		{"guard's plugin", func(d *Definition) { d.Steps[0].Guards[2].Plugin.Plugin = "" }, `steps[0].guards[2].plugin: is missing: the name of a plugin`},
		{"guard's package", func(d *Definition) { d.Steps[0].Guards[4].WorkPackages.Package = "" }, `steps[0].guards[4].work_packages: is empty: the id of a package was expected`},
		{"guard's lanes", func(d *Definition) { d.Steps[0].Guards[4].WorkPackages.Lanes = nil }, `steps[0].guards[4].lanes: is missing: at least one lane`},
		{"guard's lane", func(d *Definition) { d.Steps[0].Guards[4].WorkPackages.Lanes = []Lane{"don"} }, `steps[0].guards[4].lanes[0]: there is no lane "don" [done]`},
		{"genesis", func(d *Definition) { d.Steps[0].Guards[4].WorkPackages.Lanes = []Lane{Genesis} }, `steps[0].guards[4].lanes[0]: genesis is before all work and cannot be named`},
		{"artifact up", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "a/../../b" }, `steps[0].guards[0].artifact: "a/../../b" leads out of the mission's folder`},
		{"artifact absolute", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "/etc/passwd" }, `steps[0].guards[0].artifact: "/etc/passwd" is absolute: artifacts lie inside the mission's folder`},
		{"artifact drive", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "C:x" }, `steps[0].guards[0].artifact: "C:x" is absolute: artifacts lie inside the mission's folder`},
		{"artifact backslash", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = `a\b` }, `steps[0].guards[0].artifact: "a\\b" holds a backslash: write / on every system`},
		{"artifact empty", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "" }, `steps[0].guards[0].artifact: "" is empty: a path inside the mission's folder was expected`},
		{"artifact folder", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "./" }, `steps[0].guards[0].artifact: "./" is the mission's folder itself`},
		{"artifact pattern", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Path = "a[" }, `steps[0].guards[0].artifact: "a[" is a broken pattern: a [ without ], or nothing after a backslash`},
		{"expression", func(d *Definition) { d.Steps[0].Guards[0].Artifact.Contains = "a(b" }, "steps[0].guards[0].contains: missing closing ): `a(b`"},
		{"contradiction", func(d *Definition) { d.Steps[0].Guards[0].Artifact.NotContains = "(?m)^## S" }, `steps[0].guards[0].not_contains: is the same as contains: no file can pass both`},
		{"count without pattern", func(d *Definition) { d.Steps[0].Guards[0].Artifact.MinCount = 2 }, `steps[0].guards[0].min_count: "spec.md" names one file, so there are never 2: use a pattern such as docs/*.md`},

		{"auto at packages", func(d *Definition) { d.Steps[1].Executor = &Executor{Plugin: "p", Auto: true} }, `steps[1].executor.auto: has no effect on a step with work packages: those are handed out`},
		{"executor at audit", func(d *Definition) { d.Steps[4].Executor = &Executor{Plugin: "p"} }, `audits[0].executor: has no effect on a blocking audit: it is answered, not reported`},
		{"guards at audit", func(d *Definition) { d.Steps[4].Guards = []Guard{{Input: "db"}} }, `audits[0].guards: have no effect on a blocking audit: it is answered, not reported`},
		{"retry at audit", func(d *Definition) { d.Steps[4].Retry = 1 }, `audits[0].retry: has no effect on a blocking audit: it is answered, not reported`},
		{"inputs at audit", func(d *Definition) { d.Steps[4].Inputs = []Input{{Key: "x", Question: "X?"}} }, `audits[0].inputs: have no effect on a blocking audit: it is answered, not handed out`},
		{"packages at audit", func(d *Definition) { d.Steps[4].Packages = d.Steps[1].Packages }, `audits[0].work_packages: an audit cannot work on packages`},
		{"no enforcement", func(d *Definition) { d.Steps[4].Audit.Enforcement = "" }, `audits[0].enforcement: is missing: blocking or advisory`},
		{"enforcement", func(d *Definition) { d.Steps[4].Audit.Enforcement = "blockin" }, `audits[0].enforcement: must be blocking or advisory, not "blockin" [blocking]`},
		{"no question at audit", func(d *Definition) { d.Steps[4].Audit.Question = "" }, `audits[0].question: is missing: what a blocking audit asks`},
		{"a reserved id", func(d *Definition) { d.Steps[5].ID, d.Steps[5].Action = "Done", "Done" }, `audits[1].id: "Done" says where a run as a whole stands: choose another name`},
		{"profile of an audit", func(d *Definition) { d.Steps[4].Profile = "owner" }, `audits[0].profile: has no effect on a blocking audit: its question is all that is shown`},
		{"on_reject to nothing", func(d *Definition) { d.Steps[4].Audit.OnReject = "implment" }, `audits[0].on_reject: there is no step "implment" [implement]`},
		{"on_reject to itself", func(d *Definition) { d.Steps[4].Audit.OnReject = "release" }, `audits[0].on_reject: "release" is no step that "release" waits for: opening it again would not lead back here`},
		{"on_reject to a later one", func(d *Definition) { d.Steps[4].Audit.OnReject = "look" }, `audits[0].on_reject: "look" is no step that "release" waits for: opening it again would not lead back here`},
		{"on_reject at advisory", func(d *Definition) { d.Steps[5].Audit.OnReject = "review" }, `audits[1].on_reject: has no effect on an advisory audit: nothing is asked, so nothing is rejected`},

		{"no take", func(d *Definition) { d.Steps[1].Packages.Take = nil }, `steps[1].work_packages.take: is missing: at least one lane`},
		{"no until", func(d *Definition) { d.Steps[1].Packages.Until = nil }, `steps[1].work_packages.until: is missing: at least one lane`},
		{"no claim", func(d *Definition) { d.Steps[1].Packages.Claim = "" }, `steps[1].work_packages.claim: is missing: a lane`},
		{"lane twice", func(d *Definition) { d.Steps[1].Packages.Take = []Lane{Planned, Planned} }, `steps[1].work_packages.take[1]: "planned" stands here twice`},
		{"claim done", func(d *Definition) { d.Steps[1].Packages.Claim = Done }, `steps[1].work_packages.claim: "done" is no lane to work in
steps[1].work_packages.success: no moves lead from "done" to "for_review"
steps[1].work_packages.failed: no moves lead from "done" to "planned"`},
		{"take of the finished", func(d *Definition) { d.Steps[1].Packages.Take = []Lane{Planned, Done} }, `steps[1].work_packages.take[1]: no moves lead from "done" to "in_progress", the lane that handing out leads to`},
		{"success stays", func(d *Definition) {
			d.Steps[2].Packages.Success = InReview
			d.Steps[2].Packages.Until = []Lane{InReview}
		},
			`steps[2].work_packages.success: "in_review" is the lane it is handed out in, so the report would move nothing`},
		{"success taken again", func(d *Definition) {
			d.Steps[1].Packages.Success, d.Steps[1].Packages.Failed = Planned, Blocked
			d.Steps[1].Packages.Until = []Lane{Planned}
		},
			`steps[1].work_packages.success: "planned" is a lane that the step takes from: a finished package would be offered again for ever`},
		{"failed like success", func(d *Definition) { d.Steps[1].Packages.Failed = ForReview },
			`steps[1].work_packages.failed: "for_review" is where success leads too: a failed package would pass for a finished one`},
		{"never ends", func(d *Definition) { d.Steps[1].Packages.Until = []Lane{Canceled} }, `steps[1].work_packages.until: holds neither "for_review", where success leads, nor a lane that the steps in also lead on to: the step would never end`},
		{"ends by another", func(d *Definition) { d.Steps[1].Packages.Until = []Lane{Approved} }, ``},
		{"also nothing", func(d *Definition) { d.Steps[1].Packages.Also = []string{"revew"} }, `steps[1].work_packages.also[0]: there is no step "revew" [review]`},
		{"also itself", func(d *Definition) { d.Steps[1].Packages.Also = []string{"implement"} }, `steps[1].work_packages.also[0]: "implement" is the step itself`},
		{"also without packages", func(d *Definition) { d.Steps[1].Packages.Also = []string{"specify"} }, `steps[1].work_packages.also[0]: "specify" does not work on packages`},
		{"also twice", func(d *Definition) { d.Steps[1].Packages.Also = []string{"review", "review"} }, `steps[1].work_packages.also[1]: "review" stands here twice`},
		{"self_review", func(d *Definition) { d.Steps[1].Packages.SelfReview = true }, `steps[1].work_packages.self_review: has no effect: this step neither takes packages for review nor approves them`},

		{"prompt empty", func(d *Definition) { d.Steps[0].Prompt.Text = "\n" }, `steps[0].prompt: is empty`},
		{"prompt syntax", func(d *Definition) { d.Steps[0].Prompt.Text = "a\n{{.Mission.Dir" }, `steps[0].prompt: line 2: unclosed action`},
		{"prompt field", func(d *Definition) { d.Steps[0].Prompt.Text = "a\n\n{{.Mission.Slog}}" }, `steps[0].prompt: line 3: undefined: .Mission.Slog [Slug]`},
		{"prompt's input", func(d *Definition) { d.Steps[0].Prompt.Text = "{{.Inputs.ownr}}" }, `steps[0].prompt: line 1: no step asks for the input "ownr" [owner]`},
		{"prompt's later input", func(d *Definition) {
			d.Steps[0].Prompt.Text = "{{.Inputs.late}}"
			d.Steps[1].Inputs = []Input{{Key: "late", Question: "Late?"}}
		}, `steps[0].prompt: line 1: the input "late" is asked for only after this step, by steps[1]`},
		{"prompt's input of an executor", func(d *Definition) {
			d.Steps[0].Executor = &Executor{Plugin: "p"}
			d.Steps[0].Prompt.Text = "{{.Inputs.anything}}"
		}, ``},
		{"prompt's package", func(d *Definition) { d.Steps[0].Prompt = &Prompt{Path: "p.md", Text: "{{.Package.ID}}"} }, `steps[0].prompt_template: p.md, line 1: uses .Package.ID, but the step "specify" has no work packages`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := good()
			c.spoil(d)
			var got []string
			for _, p := range d.Check() {
				line := p.Path + ": " + p.Message
				if p.Near != "" {
					line += " [" + p.Near + "]"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckFindsAllAtOnce: one fault does not hide another.
func TestCheckFindsAllAtOnce(t *testing.T) {
	d := good()
	d.Key, d.Steps[0].Retry, d.Steps[1].DependsOn, d.Steps[4].Audit.Question = "", -1, []string{"x"}, ""
	if got := d.Check(); len(got) != 4 {
		t.Errorf("found %d: %v", len(got), got)
	}
}

// TestDigest: what is decoded again has the same digest, and each prompt counts.
func TestDigest(t *testing.T) {
	d := good()
	again, err := Decode(d.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("another definition came back:\n%s", diff)
	}
	if again.Digest() != d.Digest() || len(d.Digest()) != 64 {
		t.Error("another digest came back")
	}
	again.Steps[0].Prompt.Text += "!"
	if again.Digest() == d.Digest() {
		t.Error("a prompt's text does not count")
	}
	for _, bad := range []string{`{"key":"a","new":1}`, `{"key":"a"} {}`, `{`, ``, `[]`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s was taken for a definition", bad)
		}
	}
}
