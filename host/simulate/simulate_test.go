package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/simulate"
)

const plugins = `
[plugins.lint]
wasm = "lint.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
`

const (
	linear = `steps = [{ id = "a" }, { id = "b", retry = 1 }, { id = "c" }]`

	audited = `
steps = [{ id = "plan" }, { id = "build", depends_on = ["plan"] }]
audits = [
  { id = "look", depends_on = ["build"], enforcement = "advisory" },
  { id = "release", depends_on = ["look"], enforcement = "blocking", question = "Ship it?", on_reject = "build" },
  { id = "final", depends_on = ["release"], enforcement = "blocking", question = "Sure?" },
]`

	asking = `steps = [{ id = "a", inputs = [
  { key = "owner", question = "Who?" },
  { key = "db", question = "Which?", options = ["postgres", "sqlite"] },
  { key = "lang", question = "Language?", default = "go" },
] }, { id = "b", executor = { plugin = "lint", auto = true }, guards = [{ artifact = "x.md" }, { plugin = "lint" }, { input = "db" }] }]`

	packaged = `
[[missions.m.steps]]
id = "implement"
retry = 1
work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review", "in_review", "approved", "done", "canceled"] }
[[missions.m.steps]]
id = "review"
depends_on = ["implement"]
work_packages = { take = ["for_review"], claim = "in_review", success = "approved", failed = "planned", until = ["approved", "done", "canceled"], also = ["implement"] }
`
)

// define reads the mission type m.
func define(t *testing.T, steps string) *mission.Definition {
	t.Helper()
	root := t.TempDir()
	text := "schema = 1\n[missions.m]\n" + steps + plugins
	if err := os.WriteFile(filepath.Join(root, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	def, _, err := config.LoadMission(cfg, "m")
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func packages(n int) []simulate.Package {
	var all []simulate.Package
	for i := range n {
		all = append(all, simulate.Package{ID: fmt.Sprintf("WP%02d", i+1), Lane: mission.Planned})
	}
	return all
}

func in(lanes ...mission.Lane) []simulate.Package {
	all := packages(len(lanes))
	for i, l := range lanes {
		all[i].Lane = l
	}
	return all
}

// short is a walk in few words: what each move reports, answers or asks.
func short(p simulate.Path) string {
	var words []string
	for _, m := range p.Moves {
		word := m.Kind
		switch m.Kind {
		case "report", "auto", "close":
			word = m.StepID
			if m.WPID != "" {
				word += "/" + m.WPID
			}
			switch {
			case m.Kind != "report":
				word += ":" + m.Kind
			case m.Result != "success":
				word += ":" + m.Result
			}
		case "answer":
			word = m.DecisionID + "=" + m.Answer
		}
		words = append(words, word)
	}
	end := p.End.State
	if p.End.Code != "" {
		end += " " + p.End.Code
	}
	return strings.Join(words, " ") + " -> " + end
}

// Issue 4 item 1: all success, fail at X, blocked, answers, packages.
func TestWalks(t *testing.T) {
	fail := func(step string, n int) map[string]int { return map[string]int{step: n} }
	answers := func(id string, values ...string) map[string][]string { return map[string][]string{id: values} }
	for name, c := range map[string]struct {
		steps  string
		script simulate.Script
		want   string
	}{
		"all success":  {linear, simulate.Script{}, "start a b c -> done"},
		"a retry left": {linear, simulate.Script{Fail: fail("b", 1)}, "start a b:failed b c -> done"},
		"no retry left": {linear, simulate.Script{Fail: fail("b", simulate.Always)},
			"start a b:failed b:failed -> blocked step_failed"},
		"blocked after a failure": {linear, simulate.Script{Fail: fail("b", 1), Block: map[string]bool{"b": true}},
			"start a b:failed b:blocked -> blocked step_blocked"},
		"approved": {audited, simulate.Script{},
			"start plan build look audit:release=approve audit:final=approve -> done"},
		"rejected once": {audited, simulate.Script{Answers: answers("audit:release", "reject", "approve")},
			"start plan build look audit:release=reject ask build look audit:release=approve audit:final=approve -> done"},
		"rejected for ever": {audited, simulate.Script{Answers: answers("audit:release", "reject")},
			"start plan build look audit:release=reject ask build -> endless"},
		"rejected, and no way back": {audited, simulate.Script{Answers: answers("audit:final", "reject")},
			"start plan build look audit:release=approve audit:final=reject -> blocked audit_rejected"},
		"answers assumed": {asking, simulate.Script{},
			"start input:owner=simulated input:db=postgres ask a b:auto -> done"},
		"answers given": {asking, simulate.Script{Answers: map[string][]string{"owner": {"kim"}, "input:db": {"sqlite"}}},
			"start input:owner=kim input:db=sqlite ask a b:auto -> done"},
		"packages and a reviewer": {packaged, simulate.Script{Packages: packages(2)},
			"start implement/WP01 implement/WP02 ask review/WP01 review/WP02 -> done"},
		"a rejected package": {packaged, simulate.Script{Packages: packages(1), Fail: fail("review", 1)},
			"start implement/WP01 ask review/WP01:failed implement/WP01 ask review/WP01 -> done"},
		"rejected for ever and ever": {packaged, simulate.Script{Packages: packages(1), Fail: fail("review", simulate.Always)},
			"start implement/WP01 ask review/WP01:failed implement/WP01 ask review/WP01:failed implement/WP01 -> endless"},
		"a package that fails": {packaged, simulate.Script{Packages: packages(2), Fail: fail("implement", 2)},
			"start implement/WP01:failed implement/WP01:failed implement/WP02 -> blocked step_failed"},
		"a blocked package": {packaged, simulate.Script{Packages: packages(2), Block: map[string]bool{"implement": true}},
			"start implement/WP01:blocked implement/WP02 -> blocked step_blocked"},
		"lanes":        {packaged, simulate.Script{Packages: in(mission.Approved, mission.ForReview)}, "start implement:close review/WP02 -> done"},
		"all canceled": {packaged, simulate.Script{Packages: in(mission.Canceled, mission.Canceled)}, "start implement:close review:close -> canceled"},
		"no packages":  {packaged, simulate.Script{Packages: packages(0)}, "start -> blocked waiting_for_work_packages"},
		"an input guard": {`steps = [{ id = "a", guards = [{ input = "mission_owner_id", message = "Name an owner" }] }]`, simulate.Script{},
			"start -> blocked guard_refused"},
		"a package guard": {packaged + `[[missions.m.steps]]
id = "end"
depends_on = ["review"]
guards = [{ work_packages = "WP02", lanes = ["done"] }]
`, simulate.Script{Packages: in(mission.Approved, mission.Approved)},
			"start implement:close review:close -> blocked guard_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := simulate.Walk(context.Background(), define(t, c.steps), c.script)
			if err != nil {
				t.Fatal(err)
			}
			if got := short(path); got != c.want {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, path.End)
			}
			if path.End.Reason == "" || len(path.Unused) > 0 {
				t.Errorf("end %+v, unused %q", path.End, path.Unused)
			}
		})
	}
}

// An author is not offered its own review, so another agent takes it.
func TestAnotherAgentReviews(t *testing.T) {
	path, err := simulate.Walk(context.Background(), define(t, packaged), simulate.Script{Packages: packages(1)})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, m := range path.Moves {
		by[m.StepID] = m.By
	}
	if by["implement"] != "agent-1" || by["review"] != "agent-2" {
		t.Errorf("reports by %v", by)
	}
}

// The same script gives the same walk, and the index of a definition the same as
// the definition.
func TestWalksAreTheSame_P6(t *testing.T) {
	def := define(t, packaged)
	raw := mission.EncodeIndex(def)
	index, err := mission.OpenIndex(strings.NewReader(string(raw)), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var first simulate.Path
	for i, view := range []mission.View{def, def, index} {
		path, err := simulate.Walk(context.Background(), view, simulate.Script{Packages: packages(5), Fail: map[string]int{"review": 3}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = path
		}
		if diff := cmp.Diff(first, path); diff != "" {
			t.Errorf("walk %d:\n%s", i, diff)
		}
	}
}

func TestWhatIsAssumedAndUnused(t *testing.T) {
	path, err := simulate.Walk(context.Background(), define(t, asking), simulate.Script{
		Answers: map[string][]string{"owner": {"kim", "lee"}}, Fail: map[string]int{"a": 1, "b": simulate.Always},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := short(path); got != "start input:owner=kim input:db=postgres ask a:failed -> blocked step_failed" {
		t.Error(got)
	}
	want := []string{"step b was to fail, and nothing was reported on it", "input:owner was not asked for the answer lee"}
	if diff := cmp.Diff(want, path.Unused); diff != "" {
		t.Error(diff)
	}
	if path, err = simulate.Walk(context.Background(), define(t, asking), simulate.Script{}); err != nil {
		t.Fatal(err)
	}
	assumed := []string{"executor lint of step b succeeds and sets no input", "guard artifact x.md of step b allows", "guard plugin lint of step b allows"}
	if diff := cmp.Diff(assumed, path.Assumed); diff != "" {
		t.Error(diff)
	}
}

// Field case 45: what a script names and the definition does not have is
// refused, with the nearest name, and so is what could have no effect.
func TestScriptsThatDoNotFit(t *testing.T) {
	all := audited + "\n" // steps plan, build; audits look, release, final
	for name, c := range map[string]struct {
		steps  string
		script simulate.Script
		want   string
	}{
		"a step that is none":      {all, simulate.Script{Fail: map[string]int{"biuld": 1}}, `there is no step "biuld"; did you mean build?`},
		"a blocked step":           {all, simulate.Script{Block: map[string]bool{"pln": true}}, "did you mean plan?"},
		"a blocking audit":         {all, simulate.Script{Fail: map[string]int{"release": 1}}, "it is a blocking audit, which is answered (audit:release)"},
		"an advisory audit fits":   {all, simulate.Script{Fail: map[string]int{"look": 1}}, ""},
		"zero failures":            {all, simulate.Script{Fail: map[string]int{"build": 0}}, "cannot fail 0 times"},
		"always, and blocked":      {all, simulate.Script{Fail: map[string]int{"build": simulate.Always}, Block: map[string]bool{"build": true}}, "never blocked"},
		"packages without a step":  {all, simulate.Script{Packages: packages(1)}, "no step works on packages"},
		"an unknown audit":         {all, simulate.Script{Answers: map[string][]string{"audit:relaese": {"reject"}}}, "did you mean audit:release?"},
		"no option":                {all, simulate.Script{Answers: map[string][]string{"audit:release": {"rejct"}}}, `"rejct" is none of the options; did you mean reject?`},
		"an empty list":            {all, simulate.Script{Answers: map[string][]string{"audit:release": {}}}, "empty list"},
		"an empty answer":          {asking, simulate.Script{Answers: map[string][]string{"owner": {""}}}, "empty answer"},
		"an unknown input":         {asking, simulate.Script{Answers: map[string][]string{"ownr": {"kim"}}}, `no step asks "input:ownr"; did you mean input:owner?`},
		"an input with a default":  {asking, simulate.Script{Answers: map[string][]string{"lang": {"c"}}}, "has a default"},
		"an input twice":           {asking, simulate.Script{Answers: map[string][]string{"db": {"sqlite"}, "input:db": {"sqlite"}}}, "answered twice"},
		"a plugin's question":      {asking, simulate.Script{Answers: map[string][]string{"plugin:x": {"y"}}}, "executors are not run"},
		"a package's question":     {packaged, simulate.Script{Packages: packages(1), Answers: map[string][]string{"package:WP01": {"go_on"}}}, "depend on none"},
		"a lane that is none":      {packaged, simulate.Script{Packages: in("for_reveiw")}, "did you mean for_review?"},
		"a lane that is not named": {packaged, simulate.Script{Packages: in(mission.Genesis)}, "there is no lane"},
		"a package twice":          {packaged, simulate.Script{Packages: []simulate.Package{{ID: "WP01", Lane: mission.Planned}, {ID: "wp01", Lane: mission.Planned}}}, "there already"},
		"a package with no name":   {packaged, simulate.Script{Packages: []simulate.Package{{ID: "../x", Lane: mission.Planned}}}, "must start with"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := simulate.Walk(context.Background(), define(t, c.steps), c.script)
			var bad *simulate.ScriptError
			switch {
			case c.want == "" && err == nil:
			case c.want == "" || !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := simulate.Walk(ctx, define(t, linear), simulate.Script{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Field case 37: a chain of 200 steps is walked to its end, and so is one of
// thousands.
func TestLongChains(t *testing.T) {
	for _, n := range []int{200, 5000} {
		def := &mission.Definition{Key: "m", Name: "m", Version: "1"}
		for i := range n {
			step := mission.Step{ID: fmt.Sprintf("s%d", i), Title: "s", Action: "s"}
			if i > 0 {
				step.DependsOn = []string{fmt.Sprintf("s%d", i-1)}
			}
			def.Steps = append(def.Steps, step)
		}
		raw := mission.EncodeIndex(def)
		index, err := mission.OpenIndex(strings.NewReader(string(raw)), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		path, err := simulate.Walk(context.Background(), index, simulate.Script{})
		if err != nil || path.End.State != "done" || len(path.Moves) != n+1 {
			t.Errorf("%d steps: %d moves, %+v, %v", n, len(path.Moves), path.End, err)
		}
	}
}
