package cursor

import (
	"testing"
)

// Field case 09: a failed attempt is followed by another one while there are
// retries, then the run stops, and run retry opens it again.
func TestFailedSteps_Case09(t *testing.T) {
	def := chain("a", "b")
	def.Steps[0].Retry = 1
	r := begin(t, facts(def), nil)
	first := r.ask("ann")
	r.makes(r.own("ann", Failed), "reported", "issued")
	second := r.held("ann")
	want(t, "attempt", second.Attempt, 2)
	if second.Token == first.Token {
		t.Fatal("the second attempt has the first one's token")
	}
	want(t, "feedback", r.s.Cursor.Feedback, "ann saw it failed")
	r.makes(r.own("ann", Failed), "reported", "stopped")
	want(t, "at ann", r.at("ann"), "stop a step_failed")
	want(t, "at a newcomer", r.at("bob"), "stop a step_failed")
	r.refused(r.asking("ann"), StepFailed)
	r.makes(Retry{Who: "ops", By: who("ann"), Tokens: r.tokens()}, "retried", "issued")
	want(t, "attempt", r.held("ann").Attempt, 3)
	r.makes(r.own("ann", Failed), "reported", "stopped") // one retry is one attempt
	r.makes(Retry{Who: "ops", Tokens: r.tokens()}, "retried")
	want(t, "at", r.at("bob"), "offer a")
	r.ask("bob")
	r.must(r.own("bob", Success))
	want(t, "the next step begins anew", r.held("bob").Attempt, 1)
	want(t, "feedback", r.s.Cursor.Feedback, "")
}

// blocked never retries by itself, and uses up no retry.
func TestBlockedStep_Case09(t *testing.T) {
	def := chain("a")
	def.Steps[0].Retry = 1
	r := begin(t, facts(def), nil)
	r.ask("ann")
	r.makes(r.own("ann", Blocked), "reported", "stopped")
	want(t, "at", r.at("ann"), "stop a step_blocked")
	r.must(Retry{Who: "ops", By: who("ann"), Tokens: r.tokens()})
	r.makes(r.own("ann", Failed), "reported", "issued")
}

func TestExecutorOutcomes(t *testing.T) {
	for _, test := range []struct {
		outcome Outcome
		kinds   []string
		at      string
	}{
		{Outcome{Result: Success, Inputs: map[string]string{"k": "v"}, Prompt: "p", Notes: []string{"n"}},
			[]string{"reported", "inputs_set", "completed", "entered", "issued"}, "work b"},
		{Outcome{Result: Failed, Reason: "too short"}, []string{"reported", "stopped"}, "stop a step_failed"},
		{Outcome{Result: Blocked, Reason: "no network"}, []string{"reported", "stopped"}, "stop a step_blocked"},
		{Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}, []string{"reported", "asked"}, "question a"},
	} {
		t.Run(string(test.outcome.Result), func(t *testing.T) {
			r := begin(t, facts(chain("a", "b")), nil)
			r.ask("ann")
			report := r.own("ann", Success)
			report.Outcome = &test.outcome
			events := r.makes(report, test.kinds...)
			reported := events[0].(Reported)
			want(t, "result", reported.Result, Success)
			if test.outcome.Result != Success {
				want(t, "outcome", reported.Outcome, test.outcome.Result)
				want(t, "feedback", r.s.Cursor.Feedback, test.outcome.Reason)
			}
			want(t, "handover", r.s.Cursor.Handover, test.outcome.Prompt)
			want(t, "at", r.at("ann"), test.at)
		})
	}
}

// After an executor's question the same attempt goes on, at a step and at a
// package alike.
func TestAfterAQuestion_Case25(t *testing.T) {
	ask := &Outcome{Result: Question, Reason: "unclear", Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r := begin(t, facts(chain("a", "b")), nil)
	first := r.ask("ann")
	report := r.own("ann", Success)
	report.Outcome = ask
	r.must(report)
	r.refused(r.on("bob", first.Token, Success), StaleToken)
	r.nothing(r.asking("bob")) // the question comes first
	r.makes(r.human("plugin:q", "yes"), "answered")
	again := r.ask("ann")
	want(t, "attempt", again.Attempt, first.Attempt)

	p := atImplement(t, "WP01", "WP02")
	p.ask("ann")
	p.ask("bob")
	report = p.own("ann", Success)
	report.Outcome = ask
	p.makes(report, "reported", "asked")
	p.makes(p.own("bob", Failed), "reported", "moved", "moved", "moved", "issued") // his own goes on
	p.makes(p.own("bob", Success), "reported", "moved")                            // and nothing new
	p.must(p.human("plugin:q", "yes"))
	want(t, "bob does not get ann's", p.at("bob"), "stop implement waiting_for_work_packages")
	mine := p.ask("ann")
	want(t, "package", mine.Package, "WP01")
	want(t, "attempt", mine.Attempt, 1)
}

// Whoever reported keeps the package while the question is open; a dead keeper
// is released by name.
func TestKeeperOfAQuestionedPackage(t *testing.T) {
	r := atImplement(t, "WP01")
	token := r.ask("ann").Token
	report := r.on("bob", token, Success)
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r.makes(report, "reported", "moved", "asked")
	r.must(r.human("plugin:q", "yes"))
	want(t, "at ann", r.at("ann"), "stop implement waiting_for_work_packages")
	want(t, "at bob", r.at("bob"), "offer implement WP01")
	r.refused(Release{Who: "ops", Package: "WP02"}, NothingIssued)
	r.makes(Release{Who: "ops", Package: "WP01", Reason: "bob is gone"}, "moved")
	want(t, "at ann", r.at("ann"), "offer implement WP01")
}

// At a package step a failure into a lane that the step takes from is an
// attempt: the same holder tries again, then the package is kept back.
func TestFailedPackages(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.makes(r.own("ann", Failed), "reported", "moved", "moved", "moved", "issued")
	want(t, "attempt", r.held("ann").Attempt, 2)
	r.makes(r.own("ann", Failed), "reported", "moved", "stopped", "moved", "moved", "issued")
	want(t, "the next package", r.held("ann").Package, "WP02")
	r.must(r.own("ann", Success))
	r.ask("bob")
	want(t, "bob reviews", r.held("bob").Package, "WP02")
	want(t, "work goes on", r.at("cy"), "stop implement waiting_for_work_packages")
	r.must(r.own("bob", Success))
	want(t, "nobody works", r.at("cy"), "stop implement step_failed")
	r.refused(Retry{Who: "ops", Package: "WP02", Tokens: r.tokens()}, NothingToRetry)
	r.makes(Retry{Who: "ops", By: who("cy"), Tokens: r.tokens()}, "retried", "moved", "moved", "issued")
	want(t, "attempt", r.held("cy").Attempt, 3)
	r.must(r.own("cy", Success))
}

// Attempts count on, but rework after a rejection has all its retries.
func TestReworkHasItsRetries_Case35(t *testing.T) {
	r := atImplement(t, "WP01") // retry = 1
	r.ask("ann")
	r.must(r.own("ann", Failed))
	r.must(r.own("ann", Success))
	r.ask("bob")
	r.must(r.own("bob", Failed)) // a rejection
	want(t, "attempt", r.held("bob").Attempt, 3)
	r.must(r.own("bob", Failed))
	want(t, "retried", r.held("bob").Attempt, 4)
	r.must(r.own("bob", Failed))
	want(t, "stopped", r.at("bob"), "stop review step_failed")
}

// A blocked package goes to lane blocked and stays with its holder; run retry
// takes it back.
func TestBlockedPackage(t *testing.T) {
	r := atImplement(t, "WP01", "WP02", "WP03")
	r.ask("ann")
	r.makes(r.own("ann", Blocked), "reported", "moved", "stopped", "moved", "moved", "issued")
	want(t, "lanes", r.lanes(), "WP01=blocked WP02=in_progress WP03=planned")
	want(t, "holder", r.s.Packages["WP01"].Holder, who("ann"))
	r.makes(Retry{Who: "ops", Tokens: r.tokens()}, "retried", "moved") // ann has WP02
	want(t, "lanes", r.lanes(), "WP01=in_progress WP02=in_progress WP03=planned")
	want(t, "bob", r.ask("bob").Package, "WP03")
	r.must(r.own("ann", Success))
	want(t, "ann", r.held("ann").Package, "WP01")
	want(t, "attempt", r.held("ann").Attempt, 2)
}

// A package whose file is gone is never handed out, and above all not as a step.
func TestPackageFileGone(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	report := r.own("ann", Failed)
	r.f.Packages = packages("WP02")
	r.makes(report, "reported", "moved", "moved", "moved", "issued")
	want(t, "ann", r.held("ann").Package, "WP02")
	r.f.Packages = packages("WP01", "WP02")
	r.ask("bob")
	r.must(r.own("bob", Blocked))
	r.f.Packages = packages("WP02")
	r.makes(Retry{Who: "ops", By: who("cy"), Tokens: r.tokens()}, "retried", "moved")
	want(t, "issues", len(r.s.Issues()), 1)
}
