package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// At a package step with nothing to offer and nothing open, a tokenless success
// is the step's own report.
func TestStepsOwnReport(t *testing.T) {
	r := atImplement(t, "WP01")
	early := r.closing("bob")
	r.refused(early, StalePlan)
	r.ask("ann")
	r.refused(r.closing("bob"), StalePlan)
	r.must(r.own("ann", Success))
	r.refused(early, CursorMoved)
	r.ask("bob")
	r.must(r.own("bob", Success))
	want(t, "step", r.s.Cursor.Step, "release")

	none := atImplement(t)
	none.refused(none.asking("ann"), Waiting)
	none.refused(none.closing("ann"), StalePlan)
	none.f.Def = allowNone()
	want(t, "at", none.at("ann"), "close implement")
	none.refused(none.asking("ann"), StalePlan)
	r = none
	r.refused(func() Report { c := r.closing("ann"); c.Result = Failed; return c }(), NothingIssued)
	late := r.closing("bob")
	r.makes(r.closing("ann"), "reported", "completed", "entered")
	r.refused(late, CursorMoved)
}

func allowNone() *mission.Definition {
	def := dev()
	def.Steps[1].Packages.AllowNone = true
	return def
}

// A step's own report that is a saved plan is repeated as itself.
func TestOwnReportAsPlan(t *testing.T) {
	r := atImplement(t)
	r.f.Def = allowNone()
	plan := r.closing("ann")
	plan.Plan = "p1"
	r.must(plan)
	r.nothing(plan)
	plan.Plan = "p2"
	r.refused(plan, CursorMoved)
}

// The executor of a package step judges its own report too; what it does not
// allow is not recorded.
func TestOwnReportAndExecutor(t *testing.T) {
	r := atImplement(t)
	r.f.Def = allowNone()
	report := r.closing("ann")
	for result, code := range map[Result]Code{Failed: StepFailed, Blocked: StepBlocked} {
		report.Outcome = &Outcome{Result: result, Reason: "the plugin says so"}
		r.refused(report, code)
	}
	report.Outcome = &Outcome{Result: Question, Question: &Asking{ID: PluginID("sure"), Question: "Sure?"}}
	r.makes(report, "reported", "asked")
	r.refused(r.closing("ann"), NothingIssued) // the question comes first
	r.must(r.human("plugin:sure", "yes"))
	again := r.closing("ann")
	again.Outcome = &Outcome{Result: Success, Inputs: map[string]string{"k": "v"}}
	r.makes(again, "reported", "inputs_set", "completed", "entered")
}
