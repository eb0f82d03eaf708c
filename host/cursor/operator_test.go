package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// A release gives the same attempt to the next that asks.
func TestReleaseKeepsTheAttempt_Case16(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	r.must(r.own("ann", Failed))
	late := r.own("ann", Success)
	r.makes(Release{Who: "ops", Token: r.held("ann").Token, Reason: "gone"}, "released")
	r.refused(late, StalePlan)
	want(t, "attempt", r.ask("bob").Attempt, 2)

	s := begin(t, facts(chain("a")), nil)
	s.ask("ann")
	s.makes(Release{Who: "ops"}, "released")
	s.refused(Release{Who: "ops"}, NothingIssued)
	want(t, "attempt", s.ask("bob").Attempt, 1)
}

func TestReleaseNamesOne(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.ask("bob")
	refusal := r.refused(Release{Who: "ops"}, Usage)
	want(t, "options", len(refusal.Options), 2)
	r.refused(Release{Who: "ops", Token: r.held("ann").Token, Package: "WP02"}, NothingIssued)
	r.must(Release{Who: "ops", Package: "WP02"})
	r.held("ann")
}

// A package that stopped at a step which has no say any more is opened all the
// same, and nobody holds it.
func TestRetryWhenTheLenderIsOver(t *testing.T) {
	def := chain("prepare", "implement")
	def.Steps[0].Packages, def.Steps[1].Packages = implementing(), implementing()
	def.Steps[1].Packages.Take = lanesOf("planned", "in_progress")
	def.Steps[1].Packages.Claim = "in_progress"
	for _, p := range def.Check() {
		t.Fatalf("%+v", p)
	}
	r := begin(t, facts(def, packages("WP01")...), nil)
	r.ask("ann")
	r.must(r.own("ann", Blocked))
	r.must(Skip{Who: "ops", Step: "prepare", Reason: "r", Tokens: r.tokens()})
	want(t, "kept back", r.at("bob"), "stop implement step_blocked")
	r.makes(Retry{Who: "ops", By: who("bob"), Tokens: r.tokens()}, "retried", "moved")
	want(t, "lanes", r.lanes(), "WP01=in_progress")
	want(t, "bob", r.ask("bob").Step, "implement")
}

func TestSkip(t *testing.T) {
	def := dev()
	def.Steps[3] = mission.Step{ID: "ship", Action: "ship"}
	r := begin(t, facts(def, packages("WP01", "WP02")...), nil)
	r.must(Skip{Who: "ops", Step: "specify", Reason: "specified", Tokens: r.tokens()})
	r.ask("ann")
	late := r.own("ann", Success)
	r.refused(Skip{Who: "ops", Step: "nowhere"}, StepNotFound)
	r.nothing(Skip{Who: "ops", Step: "specify"})
	r.makes(Skip{Who: "ops", Step: "implement", Reason: "r", By: who("bob"), Tokens: r.tokens()},
		"completed", "entered", "moved", "issued") // review also implements
	r.refused(late, CursorMoved)
	want(t, "bob", r.held("bob").Package, "WP01")
	r.must(Skip{Who: "ops", Step: "ship", Reason: "r", Tokens: r.tokens()})
	r.makes(Skip{Who: "ops", Step: "review", Reason: "r", Tokens: r.tokens()}, "completed", "finished")
	r.nothing(Skip{Who: "ops", Step: "review"})
	r.refused(Retry{Who: "ops"}, NothingToRetry)
	r.refused(Abort{Who: "ops"}, NothingToAbort)
	r.nothing(r.asking("ann"))
}

func TestAbort(t *testing.T) {
	def := dev()
	def.Steps[0].Retry = 1
	r := begin(t, facts(def, packages("WP01")...), nil)
	token := r.ask("ann").Token
	r.makes(Abort{Who: "ops", Reason: "no money"}, "aborted")
	want(t, "at", r.at("ann"), "stop specify run_aborted")
	for _, x := range []transition{
		r.on("ann", token, Success), r.asking("bob"), Give{Who: "human:x", Human: "x", Decision: "audit:release", Value: approve},
		Retry{Who: "ops"}, Skip{Who: "ops", Step: "specify"}, Release{Who: "ops"},
	} {
		r.refused(x, RunAbortedCode)
	}
	r.nothing(Abort{Who: "ops", Reason: "again"})
}

// Of several stopped packages one is named.
func TestRetryNamesOne(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.refused(Retry{Who: "ops"}, NothingToRetry)
	r.ask("ann")
	r.must(r.own("ann", Blocked))
	r.must(r.own("ann", Blocked))
	refusal := r.refused(Retry{Who: "ops"}, Usage)
	want(t, "options", len(refusal.Options), 2)
	r.makes(Retry{Who: "ops", Package: "WP02", Tokens: r.tokens()}, "retried", "moved", "issued")
	want(t, "ann", r.held("ann").Package, "WP02")
}

// A retry hands nothing out while a question is open, nor after the end.
func TestRetryInItsPlace(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.ask("bob")
	r.must(r.own("ann", Blocked))
	report := r.own("bob", Success)
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r.must(report)
	r.makes(Retry{Who: "ops", By: who("cy"), Tokens: r.tokens()}, "retried", "moved")
	want(t, "issues", len(r.s.Issues()), 0)

	def := chain("work")
	def.Steps[0].Packages = implementing()
	def.Steps[0].Packages.Until = append(def.Steps[0].Packages.Until, "blocked")
	r = begin(t, facts(def, packages("WP01")...), nil)
	r.ask("ann")
	r.must(r.own("ann", Blocked))
	r.must(r.closing("ann"))
	want(t, "phase", r.s.Phase, Done)
	r.refused(Retry{Who: "ops", By: who("ann"), Tokens: r.tokens()}, NothingToRetry)
}
