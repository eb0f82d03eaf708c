package runner

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// A report repeated after it was committed answers replayed and changes
// nothing; with another result it was reported already; an older token and
// another agent's are stale.
func TestRepeatedReports(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	older := *must(t, p, report("a", cursor.Success)).Token
	token := *must(t, p, report("a", cursor.Success, older)).Token
	wantStep(t, must(t, p, report("a", cursor.Success, token)), "C")
	before := journal(t, root)

	again := must(t, p, report("a", cursor.Success, token))
	if !again.Replayed || !again.Recorded || value(again.StepID) != "C" {
		t.Errorf("replayed %v, recorded %v, step %s", again.Replayed, again.Recorded, value(again.StepID))
	}
	wantBlocked(t, must(t, p, report("a", cursor.Failed, token)), "already_reported")
	wantBlocked(t, must(t, p, report("a", cursor.Success, older)), "stale_token")
	wantBlocked(t, must(t, p, report("b", cursor.Success, token)), "stale_token")
	wantBlocked(t, must(t, p, report("a", cursor.Success, "01KMB0MJYY10DBJNG3ZD7Q8500")), "stale_token")
	if journal(t, root) != before {
		t.Error("a repeated or refused report wrote")
	}
}

// An agent that joins and says success completes nothing: it is told who holds
// the step since when, and at a package step it gets a package.
func TestJoiningAgent(t *testing.T) {
	root := makeProject(t, linear, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	before := journal(t, root)
	a := must(t, p, report("b", cursor.Success))
	wantBlocked(t, a, "not_holder")
	if a.Holder == nil || a.Holder.Agent != "a" || a.Holder.Since == "" || !strings.Contains(*a.Reason, "a since") {
		t.Errorf("the refusal does not name the holder: %+v %s", a.Holder, *a.Reason)
	}
	wantBlocked(t, must(t, p, report("b", cursor.Failed)), "not_holder")
	if journal(t, root) != before {
		t.Error("a refused report wrote")
	}

	root = makeProject(t, packaged, packages(2))
	p = open(t, root)
	first, second := must(t, p, report("a", cursor.Success)), must(t, p, report("b", cursor.Success))
	if value(first.WPID) != "WP01" || value(second.WPID) != "WP02" || completions(t, root, "implement") != 0 {
		t.Errorf("packages %s and %s", value(first.WPID), value(second.WPID))
	}
	third := must(t, p, report("c", cursor.Success))
	wantBlocked(t, third, "waiting_for_work_packages")
	if !strings.Contains(*third.Reason, "WP01 is with a") || !strings.Contains(*third.Reason, "WP02 is with b") {
		t.Errorf("the block does not name the holders: %s", *third.Reason)
	}
}

// Two agents at implement with a package each: a report, a failure and a retry
// of one leave the other's token good.
func TestPackagesDoNotDisturbEachOther(t *testing.T) {
	root := makeProject(t, packaged, packages(3))
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	b := must(t, p, report("b", cursor.Success))
	a = must(t, p, report("a", cursor.Failed, *a.Token)) // an attempt: offered again
	if value(a.WPID) != "WP01" || *a.Attempt != 2 || a.Warnings[0].Code != "step_failed" {
		t.Fatalf("package %s, attempt %d", value(a.WPID), *a.Attempt)
	}
	a = must(t, p, report("a", cursor.Failed, *a.Token)) // the last one: kept back
	if value(a.WPID) != "WP03" {
		t.Fatalf("package %s, code %s", value(a.WPID), code(a))
	}
	if got, err := p.Retry(context.Background(), OperatorRequest{Mission: "m", Package: "WP01", Caller: Caller{Agent: "c"}}); err != nil || value(got.WPID) != "WP01" {
		t.Fatalf("retry: %v %v", value(got.WPID), err)
	}
	a = must(t, p, report("a", cursor.Success, *a.Token))
	done := must(t, p, report("b", cursor.Success, *b.Token))
	if done.Kind == KindBlocked && !done.Recorded {
		t.Fatalf("b's report was refused: %s", value(done.Reason))
	}
}

// A failed step is not for ever: the answer says how to go on, and the command
// works.
func TestFailedStepHasAWayOut(t *testing.T) {
	for _, result := range []cursor.Result{cursor.Failed, cursor.Blocked} {
		root := makeProject(t, linear, nil)
		p := open(t, root)
		must(t, p, report("a", cursor.Success))
		q := report("a", result)
		q.Reason = "no disk"
		a := must(t, p, q)
		if a.Kind != KindBlocked || !a.Recorded || !strings.Contains(*a.Reason, "no disk") || a.Recover[0] != "spec-kitty run retry --root "+root+" m" {
			t.Fatalf("kind %s, recorded %v, %s, recover %v", a.Kind, a.Recorded, value(a.Reason), a.Recover)
		}
		again := must(t, p, report("a", cursor.Success))
		wantBlocked(t, again, "step_"+string(result))
		query, err := p.Query(context.Background(), "m", Caller{Agent: "a"})
		if err != nil || code(query) != code(again) || value(query.PreviewStep) != "A" {
			t.Errorf("query and advance differ: %s and %s", code(query), code(again))
		}
		if _, err := p.Retry(context.Background(), OperatorRequest{Mission: "m", Actor: "human:me"}); err != nil {
			t.Fatal(err)
		}
		if a := must(t, p, report("a", cursor.Success)); value(a.StepID) != "A" || *a.Attempt != 2 {
			t.Errorf("step %s, attempt %d", value(a.StepID), *a.Attempt)
		}
		wantStep(t, must(t, p, report("a", cursor.Success)), "B")
	}
}

// The whole mission of packages: rework, feedback in the next prompt, the end.
func TestPackagesToTheEnd(t *testing.T) {
	root := makeProject(t, packaged, packages(2))
	p := open(t, root)
	a := must(t, p, report("a", cursor.Success))
	must(t, p, report("a", cursor.Success, *a.Token))
	a = must(t, p, report("a", cursor.Success)) // WP02 done: implement is over
	if a.MissionState != "review" || value(a.StepID) != "review" || value(a.WPID) != "WP01" {
		t.Fatalf("state %s, step %s, package %s", a.MissionState, value(a.StepID), value(a.WPID))
	}
	q := report("a", cursor.Failed, *a.Token)
	q.Reason = "the tests do not compile"
	a = must(t, p, q)
	if value(a.StepID) != "implement" || value(a.WPID) != "WP01" || a.MissionState != "review" {
		t.Fatalf("after the rejection: step %s, package %s", value(a.StepID), value(a.WPID))
	}
	if prompt := read(t, *a.PromptFile); !strings.Contains(prompt, "the tests do not compile") {
		t.Errorf("the feedback is not in the prompt:\n%s", prompt)
	}
	for range 10 {
		if a = must(t, p, report("a", cursor.Success)); a.Kind != KindStep {
			break
		}
	}
	if a.Kind != KindTerminal || a.MissionState != "done" || a.Progress.Approved != 2 {
		t.Errorf("kind %s, state %s, %+v (%s)", a.Kind, a.MissionState, a.Progress, value(a.Reason))
	}
}

// require_token: a holder's report without a token is told its token; asking
// for work stays asking.
func TestRequireToken(t *testing.T) {
	root := makeProject(t, "[runtime]\nrequire_token = true\n"+linear, nil)
	p := open(t, root)
	first := must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantBlocked(t, a, "token_required")
	if value(a.Token) != *first.Token || a.Report == nil {
		t.Errorf("the refusal does not carry the issue: %s", value(a.Token))
	}
	wantStep(t, must(t, p, report("a", cursor.Success, *first.Token)), "B")
}

// Executors' outcomes: a question opens, its answer reaches the next call; what
// needs a grant that is not given says which.
func TestExecutorOutcomes(t *testing.T) {
	step := func(guest string) string {
		return `[missions.t]
steps = [{ id = "A", executor = { plugin = "` + guest + `" } }, { id = "B" }]`
	}
	root := makeProject(t, step("question"), nil, "question")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	if a.Kind != KindDecision || !strings.HasPrefix(value(a.DecisionID), "plugin:") || a.PromptFile == nil {
		t.Fatalf("kind %s, decision %s (%s)", a.Kind, value(a.DecisionID), value(a.Reason))
	}
	for guest, sub := range map[string]string{"artifact": "not_granted", "needs": "not_granted", "trap": "trapped", "exit3": "exited", "two": "bad_answer", "stray": "bad_answer"} {
		root := makeProject(t, step(guest), nil, guest)
		p := open(t, root)
		must(t, p, report("a", cursor.Success))
		before := journal(t, root)
		a := must(t, p, report("a", cursor.Success))
		wantBlocked(t, a, "plugin_failed")
		if !strings.Contains(*a.Reason, sub) || a.Token == nil || journal(t, root) != before {
			t.Errorf("%s: %s", guest, *a.Reason)
		}
	}
}

// A step that runs by itself is a further round of the call that reaches it.
func TestAutoStep(t *testing.T) {
	root := makeProject(t, `[missions.t]
steps = [{ id = "A" }, { id = "B", executor = { plugin = "success", auto = true } }, { id = "C", executor = { plugin = "success", auto = true } }, { id = "D" }]`, nil, "success")
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	wantStep(t, a, "D")
	if a.Revision != 4 {
		t.Errorf("revision %d, want one commit for each step", a.Revision)
	}
}

// An approved audit may enter a step that asks: its question has a token of its
// own. The first package after a plain step shows no other's feedback.
func TestAuditLeadsToQuestions(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [{ id = "A" }, { id = "B", depends_on = ["gate"], inputs = [{ key = "k", question = "Which?" }] }]
audits = [{ id = "gate", question = "Ship it?", enforcement = "blocking", depends_on = ["A"] }]`, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	a := must(t, p, report("a", cursor.Success))
	if a.Kind != KindDecision || value(a.DecisionID) != "audit:gate" || len(a.Options) != 2 {
		t.Fatalf("kind %s, decision %s", a.Kind, value(a.DecisionID))
	}
	approve := "approve"
	answer := Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: &approve, DecisionToken: *a.DecisionToken}
	if _, err := p.Next(context.Background(), answer); err == nil || err.(*Error).Code != CodeAuditNeedsHuman {
		t.Errorf("an agent answered an audit: %v", err)
	}
	answer.Caller = Caller{Human: "ann"}
	answer.DecisionToken = ""
	if _, err := p.Next(context.Background(), answer); err == nil || err.(*Error).Code != CodeStaleDecision {
		t.Errorf("an audit was answered without its token: %v", err)
	}
	answer.DecisionToken = *a.DecisionToken
	b := must(t, p, answer)
	if b.Kind != KindDecision || value(b.DecisionID) != "input:k" || *b.DecisionToken == *a.DecisionToken || value(b.Answered) != "audit:gate" {
		t.Fatalf("kind %s, decision %s (%s)", b.Kind, value(b.DecisionID), value(b.Reason))
	}
}

// An input's default holds from the start, in steps that do not name it and in
// guards.
func TestDefaultsHoldEverywhere(t *testing.T) {
	root := makeProject(t, `
[missions.t]
steps = [
  { id = "A", inputs = [{ key = "db", question = "Which?", default = "sqlite" }] },
  { id = "B", prompt = "On {{.Inputs.db}}.", guards = [{ input = "db" }] },
]`, nil)
	p := open(t, root)
	must(t, p, report("a", cursor.Success))
	b := must(t, p, report("a", cursor.Success))
	wantStep(t, b, "B")
	if got := read(t, *b.PromptFile); got != "On sqlite." {
		t.Errorf("prompt %q", got)
	}
	if a := must(t, p, report("a", cursor.Success)); a.Kind != KindTerminal {
		t.Errorf("kind %s (%s)", a.Kind, value(a.Reason))
	}
}

// Packages are counted also before there is a run, and where no step works on
// them.
func TestProgressWithoutPackageSteps(t *testing.T) {
	root := makeProject(t, linear, packages(2))
	p := open(t, root)
	query, err := p.Query(context.Background(), "m", Caller{})
	if err != nil || query.Progress == nil || query.Progress.Total != 2 {
		t.Errorf("before the run: %+v %v", query.Progress, err)
	}
	if a := must(t, p, report("a", cursor.Success)); a.Progress == nil || a.Progress.Planned != 2 {
		t.Errorf("in the run: %+v", a.Progress)
	}
}

// A step that runs by itself uses its further attempts in the call that reaches it, too,
// however short the mission is: nobody is handed what nobody works on.
func TestAutoStepIsRetried(t *testing.T) {
	root := makeProject(t, `[missions.t]
steps = [{ id = "A", retry = 2, executor = { plugin = "says", auto = true } }]`, nil, "says")
	config := filepath.Join(root, "spec-kitty.toml")
	write(t, config, strings.Replace(read(t, config), "[plugins.says]\n", "[plugins.says]\nargs = ['{\"outcome\":\"failed\",\"reasons\":[{\"message\":\"not yet\"}]}']\n", 1))
	a := must(t, open(t, root), report("a", cursor.Success))
	if a.Kind != KindBlocked || code(a) != "step_failed" || !a.Recorded || strings.Count(journal(t, root), `"outcome":"failed"`) != 3 {
		t.Errorf("kind %s, attempt %v, code %s (%s)", a.Kind, a.Attempt, code(a), value(a.Reason))
	}
}
