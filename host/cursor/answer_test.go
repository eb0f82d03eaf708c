package cursor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// ask8 is a run whose one step has eight independent questions (fixture ASK8).
func ask8(t testing.TB) *run {
	t.Helper()
	def := chain("a")
	for i := range 8 {
		in := mission.Input{Key: fmt.Sprintf("q%d", i), Question: "?"}
		if i == 0 {
			in.Options = []string{"yes", "no"}
		}
		def.Steps[0].Inputs = append(def.Steps[0].Inputs, in)
	}
	r := begin(t, facts(def), nil)
	want(t, "questions", len(r.s.Cursor.Questions), 8)
	return r
}

// Field case 01, US3.3: answers that were all planned on one state all survive.
func TestOverlappingAnswers_Case01_US33_FR004(t *testing.T) {
	r := ask8(t)
	var all []Give
	for _, q := range r.s.Cursor.Questions {
		all = append(all, r.human(q.ID, "yes"))
	}
	for _, give := range all {
		r.makes(give, "answered")
	}
	want(t, "open", len(r.s.Cursor.Questions), 0)
	want(t, "inputs", len(r.s.Cursor.Inputs), 8)
	want(t, "at", r.at("ann"), "offer a")
	r.ask("ann")
}

// US3.3: an answer survives an advance, and the advance that was planned before
// it is refused.
func TestAnswerOverlapsAdvance_US33(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.ask("bob")
	report := r.own("ann", Success)
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r.must(report)
	closing := r.closing("cy")
	r.must(r.human("plugin:q", "yes"))
	r.refused(closing, StalePlan)
	r.must(r.own("bob", Success)) // a package's report does not rely on answers
	want(t, "answer", r.s.Cursor.Answers["plugin:q"].Value, "yes")
}

// Field case 23: an answer to nothing, to anything, or to what was answered.
func TestAnswersThatDoNotFit_Case23(t *testing.T) {
	r := ask8(t)
	refusal := r.refused(Give{Who: "ann", Agent: "ann", Decision: "nope", Value: "yes"}, DecisionNotFound)
	want(t, "options", len(refusal.Options), 8)
	refusal = r.refused(Give{Who: "ann", Agent: "ann", Value: "yes"}, DecisionAmbiguous)
	want(t, "options", len(refusal.Options), 8)
	refusal = r.refused(r.human("input:q0", "maybe"), InvalidAnswer)
	if !slices.Equal(refusal.Options, []string{"yes", "no"}) {
		t.Fatalf("options: %v", refusal.Options)
	}
	r.refused(r.human("input:q0", ""), InvalidAnswer)
	r.refused(r.human("input:q1", ""), InvalidAnswer)
	old := r.human("input:q0", "yes")
	r.must(old)
	r.nothing(old)
	r.nothing(Give{Who: "bob", Agent: "bob", Decision: "input:q0", Value: "yes"})
	refusal = r.refused(Give{Who: "bob", Agent: "bob", Decision: "input:q0", Value: "no"}, DecisionConflict)
	want(t, "message", refusal.Message, `input:q0 was answered with "yes" by human:ann`)
	wrong := r.human("input:q1", "x")
	wrong.Token = "01OTHER"
	r.refused(wrong, StaleDecision)
	old.Token = "01OTHER"
	r.refused(old, StaleDecision)
	for i := 1; i < 7; i++ {
		r.must(r.human(fmt.Sprintf("input:q%d", i), "x"))
	}
	r.makes(Give{Who: "ann", Agent: "ann", Value: "x"}, "answered") // the only open one
	r.refused(Give{Who: "ann", Agent: "ann", Value: "x"}, DecisionNotFound)
}

// One key is one answer in every step that names it; one with a default, given
// at the start or set by an executor is not asked.
func TestInputsAreAskedOnce(t *testing.T) {
	fallback := "lite"
	owner := mission.Input{Key: "owner", Question: "Who?"}
	def := chain("a", "b")
	def.Steps[0].Inputs = []mission.Input{owner, {Key: "db", Question: "Which?", Default: &fallback}, {Key: "given", Question: "?"}}
	def.Steps[1].Inputs = []mission.Input{owner, {Key: "made", Question: "?"}}
	r := begin(t, facts(def), map[string]string{"given": "1"})
	want(t, "questions", len(r.s.Cursor.Questions), 1)
	r.nothing(r.asking("ann"))
	want(t, "at", r.at("ann"), "question a")
	r.must(r.human("input:owner", "kim"))
	r.ask("ann")
	report := r.own("ann", Success)
	report.Outcome = &Outcome{Result: Success, Inputs: map[string]string{"made": "2"}}
	r.makes(report, "reported", "inputs_set", "completed", "entered", "issued")
}

// Questions of the next step come before its work, and keep a step whose
// packages are all finished from ending over them.
func TestQuestionsAreNotDropped(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	def := dev()
	def.Steps[2].Inputs = []mission.Input{{Key: "style", Question: "?"}}
	r.f.Def = def
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.ask("bob") // reviews WP01 at implement
	r.makes(r.own("ann", Success), "reported", "moved", "completed", "entered", "asked")
	r.makes(r.own("bob", Success), "reported", "moved") // nothing new while a question is open
	r.f.Packages = packages("WP01")
	r.makes(Give{Who: "ann", Agent: "ann", Value: "short"}, "answered")
	want(t, "at", r.at("ann"), "close review")
	r.makes(r.closing("ann"), "reported", "completed", "entered", "asked")
}

func TestLastReviewKeepsTheQuestion(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.ask("bob")
	r.s.Cursor.Questions = []Asking{{ID: PluginID("q"), Token: "01Q", Question: "?"}}
	r.makes(r.own("bob", Success), "reported", "moved")
	want(t, "step", r.s.Cursor.Step, "review")
}
