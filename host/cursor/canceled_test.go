package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// canceledDep is a run at implement where WP02 and WP03 hang on WP01, which
// was canceled.
func canceledDep(t testing.TB) *run {
	t.Helper()
	r := atImplement(t)
	r.f.Packages = []PackageFact{
		{ID: "WP01"}, {ID: "WP02", DependsOn: []string{"WP01"}}, {ID: "WP03", DependsOn: []string{"WP02"}}, {ID: "WP04"},
	}
	r.s.Packages = map[string]Package{"WP01": {Lane: mission.Canceled}} // as wp move leaves it
	r.makes(r.asking("ann"), "asked")
	want(t, "at", r.at("ann"), "question implement")
	return r
}

func TestCanceledDependency_Case31(t *testing.T) {
	t.Run("go on", func(t *testing.T) {
		r := canceledDep(t)
		r.refused(r.human("package:WP01", "later"), InvalidAnswer)
		r.makes(r.human("package:WP01", "go_on"), "answered")
		want(t, "at", r.at("ann"), "offer implement WP02")
		r.ask("ann")
	})
	t.Run("cancel", func(t *testing.T) {
		r := canceledDep(t)
		r.makes(r.human("package:WP01", "cancel"), "answered", "moved", "moved")
		want(t, "lanes", r.lanes(), "WP01=canceled WP02=canceled WP03=canceled WP04=planned")
		want(t, "at", r.at("ann"), "offer implement WP04")
	})
	t.Run("one more dependant", func(t *testing.T) {
		r := canceledDep(t)
		r.must(r.human("package:WP01", "cancel"))
		r.f.Packages = append(r.f.Packages, PackageFact{ID: "WP05", DependsOn: []string{"WP01"}})
		r.makes(r.asking("ann"), "asked")
		r.must(r.human("package:WP01", "go_on"))
		r.ask("ann")
	})
	t.Run("in the lane log", func(t *testing.T) {
		r := outside(t, PackageFact{ID: "WP01", Lane: mission.Canceled}, PackageFact{ID: "WP02", Lane: mission.Planned, DependsOn: []string{"WP01"}})
		r.makes(r.asking("ann"), "asked")
		r.makes(r.human("package:WP01", "cancel"), "answered", "moved")
		want(t, "lanes", r.lanes(), "WP01=canceled WP02=canceled")
	})
	t.Run("no question about finished work", func(t *testing.T) {
		r := outside(t, PackageFact{ID: "WP01", Lane: mission.Canceled}, PackageFact{ID: "WP02", Lane: mission.Approved, DependsOn: []string{"WP01"}})
		want(t, "at", r.at("ann"), "close implement")
	})
}

// Canceling takes a package from whoever has it: the late report does not bring
// it back.
func TestCancelEndsIssues(t *testing.T) {
	r := atImplement(t)
	r.f.Packages = []PackageFact{{ID: "WP01"}, {ID: "WP02", DependsOn: []string{"WP01"}}, {ID: "WP03", DependsOn: []string{"WP01"}}}
	r.s.Packages = map[string]Package{"WP01": {Lane: mission.Approved}}
	r.ask("ann")
	late := r.own("ann", Success)
	p := r.s.Packages["WP01"]
	p.Lane = mission.Canceled
	r.s.Packages = put(r.s.Packages, "WP01", p)
	r.makes(r.asking("bob"), "asked")
	r.makes(r.human("package:WP01", "cancel"), "answered", "released", "moved", "moved")
	r.refused(late, StalePlan)
	want(t, "lanes", r.lanes(), "WP01=canceled WP02=canceled WP03=canceled")
	want(t, "at", r.at("ann"), "close implement")
}

func TestAllCanceled(t *testing.T) {
	def := chain("implement")
	def.Steps[0].Packages = implementing()
	r := begin(t, Facts{Def: def, Source: KittySpecs, Packages: []PackageFact{{ID: "WP01", Lane: mission.Canceled}}}, nil)
	r.makes(r.closing("ann"), "reported", "completed", "finished")
	want(t, "phase", r.s.Phase, Canceled)
}

// A canceled package stays canceled, whoever still reports on it.
func TestCanceledStays(t *testing.T) {
	for _, result := range []Result{Success, Failed, Blocked} {
		r := atImplement(t, "WP01", "WP02")
		r.ask("ann")
		p := r.s.Packages["WP01"]
		p.Lane = mission.Canceled
		r.s.Packages = put(r.s.Packages, "WP01", p) // as wp move leaves it
		if events, err := r.try(r.own("ann", result)); err == nil && len(events) == 0 {
			t.Fatalf("%s: nothing was recorded", result)
		}
		want(t, string(result), r.s.lane(r.f, "WP01"), mission.Canceled)
	}
}

// Whoever takes a canceled package up again ends the question about it: it would
// close the step to everybody, and its answer would cancel what goes on. Where the
// lane log brought it back, an answer cancels nothing.
func TestCanceledPackageTakenUpAgain(t *testing.T) {
	r := canceledDep(t)
	r.makes(Move{Who: "human:kim", Package: "WP01", To: mission.Planned, Force: true, Reason: "wanted after all"}, "moved", "withdrawn")
	want(t, "at", r.at("ann"), "offer implement WP01")

	r = outside(t, PackageFact{ID: "WP01", Lane: mission.Canceled}, PackageFact{ID: "WP02", Lane: mission.Planned, DependsOn: []string{"WP01"}})
	r.makes(r.asking("ann"), "asked")
	r.f.Packages[0].Lane = mission.Planned
	r.makes(r.human("package:WP01", "cancel"), "answered")
	want(t, "lanes", r.lanes(), "WP01=planned WP02=planned")
}
