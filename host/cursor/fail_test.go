package cursor

import "testing"

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

func TestSkip(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	late := r.own("ann", Success)
	r.refused(Skip{Who: "ops", Step: "nowhere"}, StepNotFound)
	r.nothing(Skip{Who: "ops", Step: "specify"})
	r.makes(Skip{Who: "ops", Step: "implement", Reason: "r", By: who("bob"), Tokens: r.tokens()},
		"completed", "entered", "moved", "issued") // review also implements
	r.refused(late, CursorMoved)
	want(t, "bob", r.held("bob").Package, "WP01")
	r.must(Skip{Who: "ops", Step: "release", Reason: "r", Tokens: r.tokens()})
	r.makes(Skip{Who: "ops", Step: "review", Reason: "r", Tokens: r.tokens()}, "completed", "finished")
	r.nothing(Skip{Who: "ops", Step: "review"})
	r.refused(Retry{Who: "ops"}, NothingToRetry)
	r.nothing(Abort{Who: "ops"})
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
