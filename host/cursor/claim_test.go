package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

func (r *run) claim(name, id string) Claim {
	return Claim{Who: name, By: who(name), Package: id, Tokens: r.tokens()}
}

// Field case 03: a claim of a named package or of the next goes to one holder;
// the same holder is given the same one again; the others are told who has it.
func TestClaim_Case03(t *testing.T) {
	r := atImplement(t, "WP01", "WP02", "WP03")
	r.makes(r.claim("ann", "WP02"), "moved", "moved", "issued")
	r.nothing(r.claim("ann", "WP02"))
	r.nothing(r.claim("ann", ""))
	r.nothing(r.asking("ann"))
	want(t, "ann", r.held("ann").Package, "WP02")
	refusal := r.refused(r.claim("bob", "WP02"), PackageHeld)
	want(t, "holder", refusal.Holder, who("ann"))
	want(t, "since", refusal.Since, r.held("ann").Since)
	r.makes(r.claim("bob", ""), "moved", "moved", "issued")
	want(t, "bob", r.held("bob").Package, "WP01")

	r.makes(r.claim("bob", "WP03"), "moved", "moved", "issued") // a named one beside it
	want(t, "bob", len(r.s.Held(who("bob"))), 2)
	refusal = r.refused(r.claim("cy", ""), Waiting)
	want(t, "somebody is named", refusal.Holder.IsZero(), false)
	missing := r.refused(r.claim("cy", "WP99"), PackageNotFound)
	want(t, "candidates", len(missing.Options), 3)
	r.refused(Claim{Package: "WP01"}, Usage)
}

// What keeps a named package from being handed out is said by its name.
func TestClaimSaysWhyNot_Case31(t *testing.T) {
	r := atImplement(t)
	r.f.Packages = []PackageFact{{ID: "WP01", DependsOn: []string{"WP02"}}, {ID: "WP02"}, {ID: "WP03"}}
	refusal := r.refused(r.claim("ann", "WP01"), Waiting)
	want(t, "message", refusal.Message, "WP01 waits for WP02")

	r.must(r.claim("ann", "WP03"))
	r.must(r.own("ann", Success))
	r.refused(r.claim("ann", "WP03"), SelfReview)
	r.makes(r.claim("bob", "WP03"), "moved", "issued")
	want(t, "step", r.held("bob").Step, "review")
	r.must(r.on("bob", r.held("bob").Token, Success))
	refusal = r.refused(r.claim("cy", "WP03"), Waiting)
	want(t, "message", refusal.Message, "WP03 lies in lane approved, and step implement hands out from: for_review, planned")

	r.must(r.own("ann", Blocked))
	blocked := r.refused(r.claim("cy", "WP02"), StepBlocked)
	want(t, "message", blocked.Message, "package WP02 is blocked: ann saw it blocked")
}

// A claim never hands out a step, nor anything where a question comes first.
func TestClaimInItsPlace(t *testing.T) {
	r := begin(t, facts(dev(), packages("WP01")...), nil)
	r.refused(r.claim("ann", ""), Waiting)
	r.ask("ann")
	r.refused(r.claim("ann", "WP01"), Waiting)
	r.must(r.own("ann", Success))
	r.must(r.own("ann", Success))
	r.must(r.claim("bob", ""))
	r.must(r.own("bob", Success))
	want(t, "at", r.at("ann"), "question release")
	r.nothing(r.claim("ann", "WP01"))
	r.must(r.human("audit:release", approve))
	r.nothing(r.claim("ann", "WP01"))
	want(t, "phase", r.s.Phase, Done)

	c := canceledDep(t)
	c.nothing(c.claim("ann", "WP04"))
	c = atImplement(t)
	c.f.Packages = []PackageFact{{ID: "WP01"}, {ID: "WP02", DependsOn: []string{"WP01"}}}
	c.must(Move{Who: "ops", Package: "WP01", To: mission.Canceled})
	c.makes(c.claim("ann", "WP02"), "asked")
}

// Where nothing is left the claim says what ends the step.
func TestClaimWhereTheStepIsOver(t *testing.T) {
	def := chain("work")
	def.Steps[0].Packages = implementing()
	r := begin(t, facts(def, packages("WP01")...), nil)
	r.must(Move{Who: "ops", Package: "WP01", To: mission.Canceled})
	r.refused(r.claim("ann", ""), Waiting)
	want(t, "at", r.at("ann"), "close work")
}

// In the lane log's missions a claim moves the package there, unless it lies with
// the claimer already.
func TestClaimInTheLaneLog_Case33(t *testing.T) {
	r := outside(t, PackageFact{ID: "WP01", Lane: mission.Planned},
		PackageFact{ID: "WP02", Lane: mission.InProgress, Holder: who("ann"), Since: clock(-5)})
	refusal := r.refused(r.claim("bob", "WP02"), PackageHeld)
	want(t, "since", refusal.Since, clock(-5))
	r.makes(r.claim("ann/7", "WP02"), "moved", "issued") // which of ann's workers was not known
	r.makes(r.claim("bob", ""), "moved", "moved", "issued")
}
