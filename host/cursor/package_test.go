package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Field case 03: each ready package goes to exactly one holder; asking again
// names the same one; who gets none is told who has it.
func TestPackageGoesToOne_Case03(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.makes(r.asking("ann"), "moved", "moved", "issued")
	want(t, "ann", r.held("ann").Package, "WP01")
	r.nothing(r.asking("ann"))
	want(t, "bob", r.ask("bob").Package, "WP02")
	want(t, "lanes", r.lanes(), "WP01=in_progress WP02=in_progress")
	refusal := r.refused(r.asking("cy"), Waiting)
	if refusal.Holder.IsZero() || refusal.Since.IsZero() {
		t.Fatalf("the refusal names nobody: %+v", refusal)
	}
}

// The whole way of design section 6, with rework: rejected work goes back to
// implement with its feedback, and no report changes another package.
func TestImplementAndReview_SC002_Case35(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	r.makes(r.own("ann", Success), "reported", "moved", "completed", "entered")
	want(t, "ann waits: she is the author", r.at("ann"), "stop review waiting_for_work_packages")
	want(t, "bob reviews", r.ask("bob").Step, "review")
	r.makes(r.own("bob", Failed), "reported", "moved", "moved", "moved", "issued")
	rework := r.held("bob")
	want(t, "rework", rework.Step, "implement")
	want(t, "attempt", rework.Attempt, 2)
	want(t, "feedback", r.s.Packages["WP01"].Feedback, "bob saw it failed")
	r.must(r.own("bob", Success))
	want(t, "author", r.s.Packages["WP01"].Author, who("bob"))
	want(t, "feedback", r.s.Packages["WP01"].Feedback, "")
	want(t, "a rejection uses no attempt", r.ask("ann").Attempt, 1)
	r.makes(r.own("ann", Success), "reported", "moved", "completed", "entered", "asked")
	want(t, "author stays", r.s.Packages["WP01"].Author, who("bob"))
	want(t, "at", r.at("ann"), "question release")
}

// SC-002: a stale report on a package can neither complete review nor end the
// run while a package is unreviewed.
func TestStalePackageReport_SC002(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	one := r.ask("ann").Token
	late := r.on("ann", one, Success)
	r.must(Release{Who: "ops", Package: "WP01"})
	r.refused(late, StalePlan)
	r.ask("bob")
	r.refused(late, StalePlan)
	r.refused(r.on("ann", one, Success), StaleToken)
	want(t, "lanes", r.lanes(), "WP01=in_progress WP02=planned")
	want(t, "step", r.s.Cursor.Step, "implement")
}

// A package's report relies on its package, not on the cursor's count: others'
// claims and moves do not make it stale, nor does the step's end.
func TestOthersDoNotMakeStale_US2(t *testing.T) {
	r := atImplement(t, "WP01", "WP02", "WP03")
	r.ask("ann")
	late := r.own("ann", Success)
	r.ask("bob")
	r.must(r.own("bob", Success))
	r.must(r.own("bob", Failed))
	r.must(late)
}

// A lane that moved outside of the run since the first read is a stale plan.
func TestLaneMovedOutside_US2(t *testing.T) {
	r := outside(t, PackageFact{ID: "WP01", Lane: mission.Planned})
	r.ask("ann")
	late := r.own("ann", Failed)
	r.f.Packages = []PackageFact{{ID: "WP01", Lane: mission.Planned}}
	r.refused(late, StalePlan)
	r.must(r.own("ann", Failed))
}

// outside is a run at implement whose lanes live in the lane log.
func outside(t testing.TB, facts ...PackageFact) *run {
	t.Helper()
	def := chain("implement", "review")
	def.Steps[0].Packages = implementing()
	def.Steps[0].Retry = 1
	def.Steps[1].Packages = reviewing()
	r := begin(t, Facts{Def: def, Source: KittySpecs, Packages: facts}, nil)
	return r
}

// In the kitty-specs source the log says where packages lie, whoever moved them:
// where the work is over a success ends the issue and moves nothing, and nothing
// else is taken; where it was taken back it is the other way round.
func TestLaneLogDecides(t *testing.T) {
	r := outside(t, PackageFact{ID: "WP01", Lane: mission.Planned}, PackageFact{ID: "WP02", Lane: mission.Planned})
	r.makes(r.asking("ann"), "moved", "moved", "issued")
	want(t, "the run settled its source", r.s.Source, KittySpecs)
	r.f.Source = Journal // the setting of another day does not matter any more
	r.lay("WP01", mission.Planned)
	refusal := r.refused(r.own("ann", Success), GuardRefused)
	want(t, "failures", len(refusal.Guards), 1)
	want(t, "expected", refusal.Guards[0].Expected, "WP01 in lane in_progress")
	r.lay("WP01", mission.ForReview)
	for _, result := range []Result{Failed, Blocked} {
		want(t, "expected", r.refused(r.own("ann", result), GuardRefused).Guards[0].Expected, "WP01 in lane for_review")
	}
	r.makes(r.own("ann", Success), "reported", "moved", "moved", "issued")
	want(t, "lanes", r.lanes(), "WP01=for_review WP02=in_progress")
	r.lay("WP01", mission.Approved)
	r.lay("WP02", mission.Canceled)
	r.makes(r.own("ann", Success), "reported", "completed", "entered") // canceled elsewhere: nothing is left to do
	want(t, "at", r.at("ann"), "close review")
	r.makes(r.closing("ann"), "reported", "completed", "finished")
	want(t, "phase", r.s.Phase, Done)
}

// lay puts a package into a lane as the existing tool does, by nobody.
func (r *run) lay(id string, lane mission.Lane) {
	from := r.s.lane(r.f, id)
	r.f = r.f.After(Moved{Package: id, From: from, To: lane, Source: KittySpecs}, Meta{At: clock(len(r.log))})
}

// Who works on a package by the log gets it: with an agent's name, any worker
// of it; nobody else does.
func TestLaneLogHolder_Case33(t *testing.T) {
	r := outside(t, PackageFact{ID: "WP01", Lane: mission.InProgress, Holder: who("ann")})
	want(t, "bob", r.at("bob"), "stop implement waiting_for_work_packages")
	want(t, "ann", r.at("ann/7"), "offer implement WP01")
	r.ask("ann/7")
}

// Field case 31: dependencies first; approved and done satisfy, blocked does
// not; query and advance name the same package.
func TestDependencies_Case31(t *testing.T) {
	for lane, offered := range map[mission.Lane]string{
		mission.Planned: "WP02", mission.Blocked: "WP03", mission.Approved: "WP01", mission.Done: "WP01", mission.ForReview: "WP03",
		mission.Canceled: "",
	} {
		r := outside(t,
			PackageFact{ID: "WP01", Lane: mission.Planned, DependsOn: []string{"WP02"}},
			PackageFact{ID: "WP02", Lane: lane}, PackageFact{ID: "WP03", Lane: mission.Planned})
		if offered == "" {
			r.makes(r.asking("ann"), "asked")
			continue
		}
		want(t, string(lane), r.at("ann"), "offer implement "+offered)
		want(t, string(lane), r.ask("ann").Package, offered)
	}
}

// A dependency that no file has is not satisfied by anything.
func TestUnknownDependency_Case31(t *testing.T) {
	r := atImplement(t)
	r.f.Packages = []PackageFact{{ID: "WP01", DependsOn: []string{"WP99"}}}
	refusal := r.refused(r.asking("ann"), Waiting)
	want(t, "message", refusal.Message, "nothing to hand out at step implement: WP01 waits for WP99")
}

// A rule lends its packages before the step's own are offered, with its own
// prompt and retries.
func TestAlsoOffersFirst(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.must(r.own("ann", Success))
	want(t, "ann implements on: she may not review", r.held("ann").Package, "WP02")
	want(t, "bob", r.at("bob"), "offer review WP01")
	lent := r.ask("bob")
	want(t, "position", lent.Pos, 2)
	// implement ends while bob reviews: review goes on with his issue
	r.makes(r.own("ann", Success), "reported", "moved", "completed", "entered")
	want(t, "bob's issue lives on", r.held("bob").Token, lent.Token)
	r.makes(r.own("bob", Success), "reported", "moved", "moved", "issued")
	want(t, "bob", r.held("bob").Package, "WP02")
}

// A step that would leave a package with somebody, where the next step has no
// rule for it, waits for that package.
func TestNobodyIsStranded(t *testing.T) {
	def := chain("work", "publish")
	def.Steps[0].Packages = implementing()
	def.Steps[0].Packages.Until = append(def.Steps[0].Packages.Until, mission.InProgress)
	r := begin(t, facts(def, packages("WP01", "WP02")...), nil)
	r.ask("ann")
	r.ask("bob")
	r.makes(r.own("ann", Success), "reported", "moved")
	want(t, "ann", r.at("ann"), "stop work waiting_for_work_packages")
	r.refused(r.closing("cy"), StalePlan) // bob is not done
	r.makes(r.own("bob", Success), "reported", "moved", "completed", "entered", "issued")
	want(t, "bob", r.held("bob").Step, "publish")
}

func TestSelfReview(t *testing.T) {
	def := dev()
	def.Steps[2].Packages.SelfReview = true
	r := begin(t, facts(def, packages("WP01")...), nil)
	r.ask("ann")
	r.must(r.own("ann", Success))
	r.makes(r.own("ann", Success), "reported", "moved", "completed", "entered", "moved", "issued")
	want(t, "step", r.held("ann").Step, "review")
	r.must(r.own("ann", Success))
	want(t, "lanes", r.lanes(), "WP01=approved")
}

// Without self_review no way leads an author to approve own work: not asking,
// not another worker's name, not the reviewer's token, not a retry.
func TestSelfReviewHasNoHole(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann/1")
	r.must(r.own("ann/1", Success))
	want(t, "another worker", r.at("ann/2"), "stop review waiting_for_work_packages")
	token := r.ask("bob").Token
	r.refused(r.on("ann/1", token, Success), SelfReview)
	r.must(r.on("ann/1", token, Blocked))
	r.refused(Retry{Who: "ops", By: who("ann/1"), Tokens: r.tokens()}, SelfReview)
	r.must(Retry{Who: "ops", Tokens: r.tokens()})
	want(t, "back with bob", r.held("bob").Step, "review")
	r.must(r.own("bob", Success))
}

// Packages that cannot be read are an error for whom needs them, never none.
func TestUnreadablePackages(t *testing.T) {
	r := atImplement(t, "WP01")
	r.ask("ann")
	report := r.own("ann", Success)
	r.f.Packages, r.f.Fault = nil, errUnreadable{}
	for _, x := range []transition{report, r.asking("bob"), r.closing("bob")} {
		if _, err := r.try(x); err == nil {
			t.Fatalf("%s took unreadable packages for none", x.Kind())
		}
	}
}

type errUnreadable struct{}

func (errUnreadable) Error() string { return "tasks: permission denied" }

// A package that is handed out is offered to nobody: not to its holder, who
// reported another one, and not where the step takes from the lane of work.
func TestHandedOutIsNotOffered_Case03(t *testing.T) {
	r := atImplement(t, "WP01", "WP02", "WP03")
	mine := r.ask("ann").Token
	r.must(r.on("ann", r.ask("bob").Token, Success))
	want(t, "ann holds", len(r.s.Held(who("ann"))), 2)
	want(t, "still", r.s.Packages["WP01"].Issue.Token, mine)

	def := chain("work")
	def.Steps[0].Packages = implementing()
	def.Steps[0].Packages.Take = lanesOf(mission.Planned, mission.InProgress)
	r = begin(t, facts(def, packages("WP01")...), nil)
	r.ask("ann")
	r.refused(r.asking("bob"), Waiting)
}
