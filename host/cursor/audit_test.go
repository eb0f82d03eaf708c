package cursor

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/mission"
)

// audited is a run at the audit of a -> b -> release.
func audited(t testing.TB, onReject string, inputs map[string]string, asked ...mission.Input) *run {
	t.Helper()
	def := chain("a", "b", "release")
	def.Steps[0].Inputs = asked
	def.Steps[2].Audit = &mission.Audit{Question: "Ship it?", Enforcement: mission.Blocking, OnReject: onReject}
	r := begin(t, facts(def), inputs)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.makes(r.own("ann", Success), "reported", "completed", "entered", "asked")
	want(t, "at", r.at("ann"), "question release")
	return r
}

func TestAuditApproved_Case25(t *testing.T) {
	r := audited(t, "", nil)
	r.nothing(r.asking("ann")) // an audit is answered, not handed out
	give := r.human("audit:release", approve)
	events := r.makes(give, "answered", "completed", "finished")
	want(t, "how", events[1].(Completed).How, ByApproval)
	r.nothing(give)
	r.refused(r.human("audit:release", reject), DecisionConflict)
}

func TestWhoMayAudit(t *testing.T) {
	for _, test := range []struct {
		name, owner string
		agent       string
		human       string
		ok          bool
	}{
		{"a person", "", "", "kim", true},
		{"an agent", "", "ann", "", false},
		{"the owner", "ann", "ann", "", true},
		{"another agent", "ann", "bob", "", false},
		{"another person", "ann", "", "kim", false},
		{"the owner is a person", "kim", "", "kim", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inputs map[string]string
			if test.owner != "" {
				inputs = map[string]string{OwnerInput: test.owner}
			}
			r := audited(t, "", inputs)
			give := r.human("audit:release", approve)
			give.Agent, give.Human = test.agent, test.human
			if !test.ok {
				r.refused(give, AuditNeedsHuman)
				return
			}
			bare := give
			bare.Token = ""
			r.refused(bare, StaleDecision)
			r.must(give)
		})
	}
}

// No agent makes itself, or another one, the owner: neither by an answer nor by
// replacing a person's.
func TestNoAgentNamesTheOwner(t *testing.T) {
	def := chain("a", "b", "release")
	def.Steps[0].Inputs = []mission.Input{{Key: OwnerInput, Question: "Who?"}}
	def.Steps[2].Audit = &mission.Audit{Question: "Ship it?", Enforcement: mission.Blocking}
	r := begin(t, facts(def), nil)
	give := r.human(InputID(OwnerInput), "ann")
	give.Agent, give.Human = "ann", ""
	r.refused(give, AuditNeedsHuman)
	r.must(r.human(InputID(OwnerInput), "kim"))
	give.Replace, give.Reason = true, "I am here"
	r.refused(give, AuditNeedsHuman)
	give.Agent, give.Human = "", "kim"
	r.must(give)
}

// The owner may also be named by the input's default.
func TestOwnerByDefault(t *testing.T) {
	owner := "kim"
	r := audited(t, "", nil, mission.Input{Key: OwnerInput, Question: "Who?", Default: &owner})
	r.refused(r.human("audit:release", approve), AuditNeedsHuman)
	give := r.human("audit:release", approve)
	give.Human = "kim"
	r.must(give)
}

// Without on_reject a rejection stops the run until run retry asks again, with
// another token (field case 39: one approval is for one asking).
func TestRejectedAndAskedAgain_Case39(t *testing.T) {
	r := audited(t, "", nil)
	old := r.human("audit:release", reject)
	r.makes(old, "answered", "stopped")
	want(t, "at", r.at("ann"), "stop release audit_rejected")
	r.refused(r.asking("ann"), AuditRejected)
	r.nothing(old)
	r.makes(Retry{Who: "ops", By: who("ann"), Tokens: r.tokens()}, "retried", "asked")
	late := old
	late.Value = approve
	r.refused(late, StaleDecision)
	r.makes(r.human("audit:release", approve), "answered", "completed", "finished")
}

// on_reject opens the way from a step again; its prompt gets the reason, and
// what lies on the way is done anew. A second round has a token of its own.
func TestOnReject_Case35_Case39(t *testing.T) {
	r := audited(t, "a", nil)
	first := r.human("audit:release", reject)
	events := r.makes(first, "answered", "reopened", "entered")
	want := Reopened{Positions: []int{0, 1}, Audits: []string{"audit:release"}, Reason: "rejected by human:ann"}
	if diff := cmp.Diff(want, events[1]); diff != "" {
		t.Fatal(diff)
	}
	if r.s.Cursor.Feedback != "rejected by human:ann" {
		t.Fatalf("the step that is done anew does not know why: %q", r.s.Cursor.Feedback)
	}
	if issue := r.ask("ann"); issue.Step != "a" || issue.Attempt != 1 {
		t.Fatalf("%+v", issue)
	}
	r.must(r.own("ann", Success))
	r.must(r.own("ann", Success))
	late := first
	late.Value = approve
	r.refused(late, StaleDecision)
	r.must(r.human("audit:release", approve))
}

// A rejection reaches steps that stand before what they depend on, and audits
// on the way, and leaves the rest complete.
func TestRejectedWayInAnyOrder(t *testing.T) {
	def := chain("last", "middle", "first", "aside", "early", "release")
	def.Steps[0].DependsOn = []string{"middle"}
	def.Steps[1].DependsOn = []string{"first"}
	def.Steps[4].DependsOn = []string{"first"}
	def.Steps[4].Audit = &mission.Audit{Question: "?", Enforcement: mission.Blocking}
	def.Steps[5].DependsOn = []string{"last", "early"}
	def.Steps[5].Audit = &mission.Audit{Question: "?", Enforcement: mission.Blocking, OnReject: "first"}
	for _, p := range def.Check() {
		t.Fatalf("%+v", p)
	}
	r := begin(t, facts(def), nil)
	r.ask("ann")
	for _, step := range []string{"first", "middle", "last", "aside"} {
		want(t, "order", r.held("ann").Step, step)
		r.must(r.own("ann", Success))
	}
	r.must(r.human("audit:early", approve))
	events := r.makes(r.human("audit:release", reject), "answered", "reopened", "entered")
	got := events[1].(Reopened)
	if diff := cmp.Diff([]int{0, 1, 2, 4}, got.Positions); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"audit:early", "audit:release"}, got.Audits); diff != "" {
		t.Fatal(diff)
	}
	want(t, "step", r.s.Cursor.Step, "first")
}

// Where the step's packages all lie where it is over, nothing would be done
// anew: the run stays rejected until one moved and somebody retries.
func TestOnRejectWithPackages(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.ask("bob")
	r.must(r.own("bob", Success))
	r.makes(r.human("audit:release", reject), "answered", "stopped")
	want(t, "at", r.at("ann"), "stop release audit_rejected")
	r.makes(Retry{Who: "ops", Tokens: r.tokens()}, "retried", "asked")
	p := r.s.Packages["WP01"]
	p.Lane = mission.Planned
	r.s.Packages = put(r.s.Packages, "WP01", p) // as wp move leaves it
	r.makes(r.human("audit:release", reject), "answered", "reopened", "entered")
	want(t, "ann", r.ask("ann").Attempt, 2)
	r.must(r.own("ann", Success))
	r.ask("cy")
	r.must(r.own("cy", Success))
	r.must(r.human("audit:release", approve))
	want(t, "phase", r.s.Phase, Done)
}

// An advisory audit is handed out as a step.
func TestAdvisoryAudit(t *testing.T) {
	def := chain("a", "look")
	def.Steps[1].Audit = &mission.Audit{Question: "Is it nice?", Enforcement: mission.Advisory}
	r := begin(t, facts(def), nil)
	r.ask("ann")
	r.makes(r.own("ann", Success), "reported", "completed", "entered", "issued")
	r.makes(r.own("ann", Success), "reported", "completed", "finished")
}

// A skip would approve a blocking audit without its question, and by whom it is not
// for: it is refused to everybody, ahead of the audit as at it (issue 4: approvals).
func TestAuditIsNotSkipped(t *testing.T) {
	skip := func(r *run) Skip { return Skip{Who: "human:kim", Step: "release", Reason: "r", Tokens: r.tokens()} }
	ahead := begin(t, facts(dev()), nil)
	ahead.refused(skip(ahead), AuditNeedsHuman)
	at := audited(t, "", nil)
	at.refused(skip(at), AuditNeedsHuman)
	want(t, "at", at.at("ann"), "question release")
}

// askedDeps counts how often a definition was asked for what a step waits for.
type askedDeps struct {
	mission.View
	n int
}

func (v *askedDeps) Deps(pos int) ([]int, error) {
	v.n++
	return v.View.Deps(pos)
}

// What a rejection opens again is found in one pass over the definition, also where
// its steps stand in the file against the order of their work: the lock is held.
func TestReopenAgainstTheFilesOrder(t *testing.T) {
	const steps = 200
	var ids []string
	for i := range steps {
		ids = append(ids, fmt.Sprint("s", i))
	}
	def := chain(ids...)
	var done mission.Bits
	for i := range steps - 1 {
		def.Steps[i].DependsOn = []string{ids[i+1]}
		done = done.With(i + 1)
	}
	view := &askedDeps{View: facts(def).Def}
	d := draft{s: State{Cursor: Cursor{Done: done}}, f: Facts{Def: view}}
	positions, _, err := d.dependants(steps - 1)
	if err != nil || len(positions) != steps-1 || view.n != steps {
		t.Errorf("%d positions, %v; asked %d times", len(positions), err, view.n)
	}
}
