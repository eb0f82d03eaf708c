package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// asking is a run of two steps; the first asks for owner and db.
func asking(t testing.TB) *run {
	def := chain("a", "b")
	def.Steps[0].Inputs = []mission.Input{
		{Key: "owner", Question: "Who?"}, {Key: "db", Question: "Which?", Options: []string{"pg", "lite"}},
	}
	return begin(t, facts(def), nil)
}

func replacing(decision, value string, r *run) Give {
	return Give{Who: "human:kim", Human: "kim", Decision: decision, Value: value, Reason: "moved", Replace: true, Tokens: r.tokens()}
}

// Design section 5: an answer may be replaced until a step was completed with
// it; then it is refused by name. Work under the old answer is handed out anew.
func TestReplaceAnswer(t *testing.T) {
	r := asking(t)
	r.must(r.human("input:owner", "ann"))
	r.must(r.human("input:db", "pg"))
	old := r.ask("bob")
	late := r.own("bob", Success)

	refusal := r.refused(replacing("input:db", "oracle", r), InvalidAnswer)
	want(t, "options", len(refusal.Options), 2)
	r.nothing(replacing("input:db", "pg", r))
	r.makes(replacing("input:db", "lite", r), "answered", "issued")
	want(t, "value", r.s.Cursor.Inputs["db"], "lite")
	now := r.held("bob")
	want(t, "attempt", now.Attempt, old.Attempt)
	if now.Token == old.Token {
		t.Fatal("work that saw the old answer kept its token")
	}
	r.refused(late, StalePlan)
	r.refused(r.on("bob", old.Token, Success), StaleToken)

	r.must(r.own("bob", Success))
	r.refused(replacing("input:db", "pg", r), AnswerUsed)
	want(t, "used", r.s.Cursor.Answers["input:db"].Used, "a")
}

// A skip saw no answer, so what was answered may still be replaced after it.
func TestReplaceAfterSkip(t *testing.T) {
	r := asking(t)
	r.must(r.human("input:owner", "ann"))
	r.must(Skip{Who: "ops", Step: "a", Reason: "r", Tokens: r.tokens()})
	r.makes(replacing("input:owner", "kim", r), "answered")
	r.must(r.asking("bob"))
	r.must(r.own("bob", Success))
	r.refused(replacing("input:owner", "ann", r), AnswerUsed) // the run is over
}

// Field case 23 for replacing: unknown, open, without a reason, stale token, an
// audit's answer.
func TestReplaceThatDoesNotFit_Case23(t *testing.T) {
	r := asking(t)
	r.must(r.human("input:owner", "ann"))
	refusal := r.refused(replacing("nope", "x", r), DecisionNotFound)
	want(t, "options", len(refusal.Options), 1)
	r.refused(replacing("input:db", "pg", r), Usage)
	r.refused(replacing("", "pg", r), Usage)
	silent := replacing("input:owner", "kim", r)
	silent.Reason = ""
	r.refused(silent, Usage)
	wrong := replacing("input:owner", "kim", r)
	wrong.Token = "01OTHER"
	r.refused(wrong, StaleDecision)

	def := chain("a", "audit")
	def.Steps[1].Audit = &mission.Audit{Question: "?", Enforcement: mission.Blocking}
	r = begin(t, facts(def), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.must(r.human("audit:audit", reject))
	r.refused(replacing("audit:audit", approve, r), AnswerUsed)
	r.must(Retry{Who: "ops", Tokens: r.tokens()}) // the way out: it is asked again
	r.must(r.human("audit:audit", approve))
	want(t, "phase", r.s.Phase, Done)
}

// A package question answered with go_on may turn to cancel as long as nothing
// was completed; cancel is final.
func TestReplaceGoOn(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.f.Packages[1].DependsOn = []string{"WP01"}
	r.must(r.forced("ann", "WP01", mission.Canceled))
	r.must(r.asking("bob"))
	r.must(r.human("package:WP01", goOn))
	held := r.ask("bob")
	want(t, "held", held.Package, "WP02")
	r.makes(replacing("package:WP01", cancel, r), "answered", "released", "moved")
	want(t, "lane", r.s.lane(r.f, "WP02"), mission.Canceled)
	r.refused(replacing("package:WP01", goOn, r), AnswerUsed)
	want(t, "at", r.at("bob"), "close implement")
}

// A rejection's reason is what the next attempt is told.
func TestRejectionSaysWhy(t *testing.T) {
	def := chain("a", "audit")
	def.Steps[1].Audit = &mission.Audit{Question: "?", Enforcement: mission.Blocking, OnReject: "a"}
	r := begin(t, facts(def), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	give := r.human("audit:audit", reject)
	give.Reason = "no tests"
	r.must(give)
	want(t, "feedback", r.s.Cursor.Feedback, "rejected by human:ann: no tests")
}

// Postponed is still open: it blocks its step, and answering it works.
func TestPostpone(t *testing.T) {
	r := asking(t)
	r.must(r.human("input:owner", "ann"))
	r.refused(Postpone{Who: "human:kim", Decision: "input:db"}, Usage)
	r.refused(Postpone{Who: "human:kim", Decision: "input:owner", Reason: "r"}, DecisionConflict)
	r.refused(Postpone{Who: "human:kim", Decision: "nope", Reason: "r"}, DecisionNotFound)
	r.refused(Postpone{Who: "human:kim", Decision: "input:db", Token: "01OTHER", Reason: "r"}, StaleDecision)
	put := Postpone{Who: "human:kim", Decision: "input:db", Reason: "until Monday"}
	r.makes(put, "postponed")
	r.nothing(put)
	q, _ := r.s.Asking("input:db")
	want(t, "by", q.Postponed.By, "human:kim")
	want(t, "at", r.at("bob"), "question a")
	r.must(r.human("input:db", "pg"))
	want(t, "at", r.at("bob"), "offer a")
	r.must(Abort{Who: "ops", Reason: "r"})
	r.refused(put, RunAbortedCode)
}

// Withdrawing leaves every state a way out: what needs an executor's question or
// one about packages asks it again; inputs and audits cannot be withdrawn.
func TestWithdraw_P4(t *testing.T) {
	r := asking(t)
	r.refused(Withdraw{Who: "ops", Decision: "input:db", Reason: "r"}, DecisionNeeded)

	r = begin(t, facts(chain("a", "b")), nil)
	r.ask("ann")
	report := r.own("ann", Success)
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r.must(report)
	first, _ := r.s.Asking("plugin:q")
	r.makes(Withdraw{Who: "ops", Reason: "not wanted"}, "withdrawn")
	want(t, "at", r.at("bob"), "offer a")
	r.ask("bob")
	report = r.own("bob", Success)
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("q"), Question: "?"}}
	r.must(report)
	if again, open := r.s.Asking("plugin:q"); !open || again.Token == first.Token {
		t.Fatalf("asked again: %+v", again)
	}

	r = atImplement(t, "WP01", "WP02")
	r.f.Packages[1].DependsOn = []string{"WP01"}
	r.must(r.forced("ann", "WP01", mission.Canceled))
	r.must(r.asking("bob"))
	r.makes(Withdraw{Who: "ops", Decision: "package:WP01", Reason: "r"}, "withdrawn")
	r.makes(r.asking("bob"), "asked")
}

// What was given at the start, or is a default, is put right like an answer, until a
// step is complete that saw it: its options hold, and the record has who did it.
func TestReplaceGivenInput(t *testing.T) {
	def, lite := chain("a", "b"), "lite"
	def.Steps[0].Inputs = []mission.Input{
		{Key: "db", Question: "Which?", Options: []string{"pg", "lite"}, Default: &lite}, {Key: "env", Question: "Where?", Options: []string{"dev", "prod"}},
	}
	r := begin(t, facts(def), map[string]string{"env": "dev"})
	r.refused(replacing("input:env", "moon", r), InvalidAnswer)
	r.makes(replacing("input:env", "prod", r), "answered")
	r.makes(replacing("input:db", "pg", r), "answered")
	want(t, "env", r.s.Cursor.Inputs["env"], "prod")
	want(t, "db", r.s.Cursor.Inputs["db"], "pg")
	r.ask("bob")
	r.makes(replacing("input:env", "dev", r), "answered", "issued")
	r.must(r.own("bob", Success))
	r.refused(replacing("input:env", "prod", r), AnswerUsed)
}

// A mistyped mission_owner_id keeps everybody from the audit: a person puts it
// right, and no agent does, however many steps are complete.
func TestReplaceOwner(t *testing.T) {
	r := audited(t, "", map[string]string{OwnerInput: "kmi"})
	give := r.human("audit:release", approve)
	give.Human, give.Who, give.Token = "kim", "human:kim", r.s.Cursor.Questions[0].Token
	r.refused(give, AuditNeedsHuman)
	mend := replacing("input:"+OwnerInput, "kim", r)
	byAgent := mend
	byAgent.Who, byAgent.Human, byAgent.Agent = "mallory", "", "mallory"
	r.refused(byAgent, AuditNeedsHuman)
	r.makes(mend, "answered")
	r.must(give)
	want(t, "phase", r.s.Phase, Done)
}
