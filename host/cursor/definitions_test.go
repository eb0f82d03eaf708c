package cursor

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/mission"
)

// chain is a definition of plain steps in file order (fixture LIN3 and alike).
func chain(ids ...string) *mission.Definition {
	def := &mission.Definition{Key: "chain", Name: "chain", Version: "1"}
	for _, id := range ids {
		def.Steps = append(def.Steps, mission.Step{ID: id, Action: id})
	}
	return def
}

func implementing(also ...string) *mission.PackageRule {
	return &mission.PackageRule{
		Take: lanesOf(mission.Planned), Claim: mission.InProgress, Success: mission.ForReview, Failed: mission.Planned,
		Until: lanesOf(mission.ForReview, mission.InReview, mission.Approved, mission.Done, mission.Canceled), Also: also,
	}
}

func reviewing(also ...string) *mission.PackageRule {
	return &mission.PackageRule{
		Take: lanesOf(mission.ForReview), Claim: mission.InReview, Success: mission.Approved, Failed: mission.Planned,
		Until: lanesOf(mission.Approved, mission.Done, mission.Canceled), Also: also,
	}
}

func lanesOf(lanes ...mission.Lane) []mission.Lane { return lanes }

// dev is the definition of design section 6: specify, implement, review and a
// blocking audit; fixture WP.
func dev() *mission.Definition {
	def := chain("specify", "implement", "review", "release")
	def.Steps[1].Packages = implementing("review")
	def.Steps[1].Retry = 1
	def.Steps[2].Packages = reviewing("implement")
	def.Steps[3].Audit = &mission.Audit{Question: "Ship it?", Enforcement: mission.Blocking, OnReject: "implement"}
	return def
}

func packages(ids ...string) []PackageFact {
	var all []PackageFact
	for _, id := range ids {
		all = append(all, PackageFact{ID: id, Title: "Package " + id})
	}
	return all
}

// atImplement is a run of dev that stands at implement.
func atImplement(t testing.TB, ids ...string) *run {
	t.Helper()
	r := begin(t, facts(dev(), packages(ids...)...), nil)
	r.must(Skip{Who: "ops", Step: "specify", Reason: "specified", Tokens: r.tokens()})
	return r
}

func TestFixturesAreValid(t *testing.T) {
	for _, def := range []*mission.Definition{chain("a", "b"), dev()} {
		for _, p := range def.Check() {
			t.Errorf("%s: %s %s", def.Key, p.Path, p.Message)
		}
	}
}
