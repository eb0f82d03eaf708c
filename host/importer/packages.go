package importer

import (
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// packages gives the steps named implement and review the rules for work
// packages. A review alone has none to begin with: packages are planned until
// somebody implements them.
func (in *importing) packages() {
	implement, review := in.position("implement"), in.position("review")
	switch {
	case implement < 0 && review >= 0:
		in.note(Changed, in.steps[review].table.place, "review", "review works on no packages here, as no step implement hands them in")
	case implement >= 0 && review >= 0:
		in.def.Steps[implement].Packages = implementRule()
		in.def.Steps[review].Packages = reviewRule()
	case implement >= 0:
		in.def.Steps[implement].Packages = aloneRule()
		in.note(Changed, in.steps[implement].table.place, "implement", "without a step review, what is implemented counts as approved")
	}
}

func (in *importing) position(id string) int {
	return slices.IndexFunc(in.def.Steps, func(s mission.Step) bool { return s.ID == id && s.Audit == nil })
}

func implementRule() *mission.PackageRule {
	return &mission.PackageRule{
		Take: []mission.Lane{mission.Planned}, Claim: mission.InProgress, Success: mission.ForReview, Failed: mission.Planned,
		Until: []mission.Lane{mission.ForReview, mission.InReview, mission.Approved, mission.Done, mission.Canceled},
		Also:  []string{"review"},
	}
}

func reviewRule() *mission.PackageRule {
	return &mission.PackageRule{
		Take: []mission.Lane{mission.ForReview}, Claim: mission.InReview, Success: mission.Approved, Failed: mission.Planned,
		Until: []mission.Lane{mission.Approved, mission.Done, mission.Canceled},
		Also:  []string{"implement"},
	}
}

func aloneRule() *mission.PackageRule {
	return &mission.PackageRule{
		Take: []mission.Lane{mission.Planned}, Claim: mission.InProgress, Success: mission.Approved, Failed: mission.Planned,
		Until: []mission.Lane{mission.Approved, mission.Done, mission.Canceled}, SelfReview: true,
	}
}
