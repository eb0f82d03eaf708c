package cursor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

// adoptable is a diamond with a step on packages and an audit at its end.
func adoptable() *mission.Definition {
	return &mission.Definition{Key: "t", Steps: []mission.Step{
		{ID: "d", DependsOn: []string{"b", "c"}, Packages: &mission.PackageRule{
			Take: []mission.Lane{mission.Planned}, Claim: mission.InProgress, Success: mission.Approved, Failed: mission.Planned,
			Until: []mission.Lane{mission.Approved, mission.Done}, SelfReview: true,
		}},
		{ID: "a", Inputs: []mission.Input{{Key: "k", Question: "?"}}},
		{ID: "b", DependsOn: []string{"a"}}, {ID: "c", DependsOn: []string{"a"}},
		{ID: "gate", DependsOn: []string{"d"}, Audit: &mission.Audit{Question: "?", Enforcement: mission.Blocking}},
	}}
}

// adopting starts a run that takes completed steps over.
func adopting(f Facts, inputs map[string]string, completed ...string) (State, []Event, error) {
	start := Start{Who: "human:me", Run: "01R", Mission: "m", Type: "t", Def: f.Def, By: Holder{Agent: "a"}, Tokens: Tokens{First: [16]byte{1}}, Inputs: inputs,
		Adopted: &Adoption{Run: "0af3", SHA256: "sha", Completed: completed, Answers: map[string]AdoptedAnswer{
			"audit:gate": {Value: "approve", By: "human:kim"}, "input:k": {Value: "v", By: "human:kim"}}}}
	events, err := start.Decide(State{}, f, clock(0))
	s := State{}
	for _, e := range events {
		s = Evolve(s, Meta{Revision: 1, At: clock(0), Actor: "human:me", Kind: "start"}, e)
	}
	return s, events, err
}

// Issue 4 item 2: of all sets of completed steps, exactly those are adopted that a
// run could have come to; then the run stands where such a run would, and what is
// next is handed out or asked.
func TestAdoptsWhatARunComesTo(t *testing.T) {
	def := adoptable()
	waits := map[string][]string{"d": {"b", "c"}, "b": {"a"}, "c": {"a"}, "gate": {"d"}}
	rapid.Check(t, func(t *rapid.T) {
		completed := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "gate"}), func(id string) string { return id }).Draw(t, "completed")
		lane := rapid.SampledFrom([]mission.Lane{mission.Planned, mission.Approved}).Draw(t, "lane")
		f := facts(def, PackageFact{ID: "WP01", Lane: lane})
		f.Source = KittySpecs
		legal := true
		for _, id := range completed {
			for _, dep := range waits[id] {
				legal = legal && slices.Contains(completed, dep)
			}
		}
		legal = legal && (lane == mission.Approved || !slices.Contains(completed, "d"))
		s, events, err := adopting(f, nil, completed...)
		var refused *Refusal
		if !legal {
			if !errors.As(err, &refused) || refused.Code != Usage || events != nil {
				t.Fatalf("%v adopted: %v", completed, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%v: %v", completed, err)
		}
		for pos, step := range def.Steps {
			if s.Cursor.Done.Has(pos) != slices.Contains(completed, step.ID) {
				t.Fatalf("%v: step %s", completed, step.ID)
			}
		}
		if over := s.Phase == Done; over != (len(completed) == 5) || !over && s.Cursor.Issue == nil && len(s.Cursor.Questions) == 0 && len(s.Issues()) == 0 && s.Cursor.Step != "d" {
			t.Fatalf("%v: %s at %s, nothing handed out or asked", completed, s.Phase, s.Cursor.Step)
		}
	})
}

// Who answered stays known: of an audit, and of an input that has that value.
func TestAdoptsAnswers(t *testing.T) {
	f := facts(adoptable(), PackageFact{ID: "WP01", Lane: mission.Done})
	f.Source = KittySpecs
	s, events, err := adopting(f, map[string]string{"k": "v"}, "a", "b", "c", "d", "gate")
	if err != nil || s.Phase != Done {
		t.Fatal(s.Phase, err)
	}
	if a := s.Cursor.Answers; a["audit:gate"].By != "human:kim" || a["audit:gate"].Value != "approve" || a["input:k"].By != "human:kim" {
		t.Errorf("%+v", a)
	}
	if from := events[0].(Started).Adopted; from == nil || from.Run != "0af3" || from.SHA256 != "sha" {
		t.Errorf("%+v", from)
	}
	s, _, err = adopting(f, map[string]string{"k": "other"})
	if err != nil || len(s.Cursor.Answers) != 0 || s.Cursor.Inputs["k"] != "other" || s.Cursor.Step != "a" {
		t.Errorf("%+v, %v", s.Cursor, err)
	}
}

// Everything that speaks against an adoption is said at once.
func TestRefusesAdoption(t *testing.T) {
	f := facts(adoptable(), PackageFact{ID: "WP01", Lane: mission.Planned})
	for want, completed := range map[string][]string{
		"d is complete there, but not b, which it waits for; step d is complete there, but not c": {"d"},
		"its packages do not lie as it wants them here: WP01 in planned":                          {"a", "b", "c", "d"},
		`the step "x" is complete in the run to adopt, and the definition has no such step`:       {"a", "x"},
	} {
		if _, events, err := adopting(f, nil, completed...); err == nil || !strings.Contains(err.Error(), want) || events != nil {
			t.Errorf("%v: %v", completed, err)
		}
	}
}
