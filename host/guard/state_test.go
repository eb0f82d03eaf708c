package guard_test

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/mission"
)

func at(pairs ...string) []guard.PackageAt {
	var all []guard.PackageAt
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, guard.PackageAt{ID: pairs[i], Lane: mission.Lane(pairs[i+1])})
	}
	return all
}

func TestInput(t *testing.T) {
	inputs := map[string]string{"db": "sqlite", "owner": ""}
	want(t, guard.Input("db", inputs), guard.Allow)
	want(t, guard.Input("owner", inputs), guard.Refuse, "empty")
	want(t, guard.Input("region", inputs), guard.Refuse, "none")
	want(t, guard.Input("region", nil), guard.Refuse)
}

func TestWorkPackages(t *testing.T) {
	g := mission.PackageGuard{Package: "WP01", Lanes: []mission.Lane{mission.Approved, mission.Done}}
	want(t, guard.WorkPackages(g, at("WP02", "planned", "WP01", "done")), guard.Allow)
	want(t, guard.WorkPackages(g, at("WP01", "for_review")), guard.Refuse, "WP01 in for_review", "approved or done")
	want(t, guard.WorkPackages(g, at("WP02", "done")), guard.Refuse, "no package WP01")
}

// Case 29: each kind is asked by its own rule, a kind that is not built in is left
// to the caller and never counts as a pass.
func TestEvaluate(t *testing.T) {
	given := guard.Given{
		Folder:   guard.Folder{Dir: folder(t, map[string]string{"spec.md": "x"})},
		Inputs:   map[string]string{"db": "sqlite"},
		Packages: at("WP01", "done"),
	}
	guards := []mission.Guard{
		{Artifact: &mission.ArtifactGuard{Path: "spec.md"}},
		{Input: "db"},
		{WorkPackages: &mission.PackageGuard{Package: "WP01", Lanes: []mission.Lane{mission.Done}}},
	}
	var all []guard.Result
	for _, g := range guards {
		r, ok := guard.Evaluate(g, given)
		if !ok {
			t.Errorf("%+v is not built in", g)
		}
		all = append(all, r)
	}
	if !guard.Passed(all) {
		t.Errorf("%+v", all)
	}
	if r, ok := guard.Evaluate(mission.Guard{Plugin: &mission.PluginGuard{Plugin: "spec-lint"}}, given); ok || r.Verdict == guard.Allow {
		t.Errorf("a plugin's guard: %+v, %t", r, ok)
	}
	for _, verdict := range []guard.Verdict{guard.Refuse, guard.Failed, ""} {
		if guard.Passed(append(all, guard.Result{Verdict: verdict})) {
			t.Errorf("verdict %q lets a step pass", verdict)
		}
	}
}

func TestMessageStandsInForOurWords(t *testing.T) {
	g := mission.Guard{Artifact: &mission.ArtifactGuard{Path: "spec.md"}, Message: "Write it first"}
	r, _ := guard.Evaluate(g, guard.Given{})
	if r.Sentence() != "Write it first" || r.Examined == "" {
		t.Errorf("%q, %+v", r.Sentence(), r)
	}
	g.Artifact.Contains = "("
	if r, _ = guard.Evaluate(g, guard.Given{}); r.Sentence() == g.Message {
		t.Error("what could not be evaluated is shown as a refusal")
	}
}
