package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// A dead holder's package goes back to where it is handed out from, with the
// same attempt; the late report is refused.
func TestReleasePackage_Case33(t *testing.T) {
	for _, c := range []struct {
		from, to mission.Lane
		moves    int
	}{
		{mission.Claimed, mission.Planned, 2}, // by way of in_progress
		{mission.InProgress, mission.Planned, 1},
		{mission.InReview, mission.ForReview, 2},
	} {
		r := lies(t, mission.Planned)
		r.must(r.forced("ann", "WP01", c.from))
		events := r.must(ReleasePackage{Who: "ops", Package: "WP01", Reason: "gone"})
		want(t, "moves", len(events), c.moves)
		want(t, "lanes", r.lanes(), "WP01="+string(c.to))
		want(t, "holder", r.s.Packages["WP01"].Holder, Holder{})
		r.refused(ReleasePackage{Who: "ops", Package: "WP01", Reason: "gone"}, NothingIssued)
	}
	r := atImplement(t, "WP01")
	r.ask("ann")
	late := r.own("ann", Success)
	r.makes(ReleasePackage{Who: "ops", Package: "WP01", Reason: "gone"}, "released", "moved")
	r.refused(late, StalePlan)
	want(t, "lanes", r.lanes(), "WP01=planned")
	want(t, "attempt", r.ask("bob").Attempt, 1)
}

// Out of blocked a package goes back to where it came from: the one move off the
// edges, recorded as forced.
func TestReleaseOfABlockedPackage(t *testing.T) {
	r := atImplement(t, "WP01", "WP02")
	r.ask("ann")
	r.must(r.own("ann", Blocked))
	r.must(Release{Who: "ops", Package: "WP01", Reason: "ann is gone"}) // does not count as where it came from
	events := r.makes(ReleasePackage{Who: "ops", Package: "WP01", Reason: "gone"}, "retried", "moved")
	moved(t, events, mission.Blocked, mission.InProgress, true)
	p := r.s.Packages["WP01"]
	want(t, "stop", p.Stop, NoStop)
	want(t, "holder", p.Holder, Holder{})
	want(t, "the same attempt", r.ask("bob").Attempt, 1)
	want(t, "bob", r.held("bob").Package, "WP01")

	r = lies(t, mission.ForReview)
	r.must(r.move("", "WP01", mission.Blocked))
	moved(t, r.must(ReleasePackage{Who: "ops", Package: "WP01", Reason: "gone"}), mission.Blocked, mission.ForReview, true)
	want(t, "attempt", r.ask("bob").Attempt, 1)
}

// There is something to release only where somebody has it.
func TestReleasePackageInItsPlace(t *testing.T) {
	r := atImplement(t, "WP01")
	r.refused(ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"}, NothingIssued)
	r.refused(ReleasePackage{Who: "ops", Package: "WP99", Reason: "r"}, PackageNotFound)

	def := chain("work") // hands out in a lane that is no lane of work
	def.Steps[0].Packages = implementing()
	def.Steps[0].Packages.Take, def.Steps[0].Packages.Claim = lanesOf(mission.Approved), mission.Planned
	r = begin(t, facts(def, packages("WP01")...), nil)
	r.must(r.forced("", "WP01", mission.Approved))
	r.ask("ann")
	r.makes(ReleasePackage{Who: "ops", Package: "WP01", Reason: "r"}, "released")
	want(t, "lanes", r.lanes(), "WP01=planned")
}
