package mission

import (
	"strings"
	"testing"
)

// TestStandstills: a definition is warned of exactly where a report can leave a
// package that nobody is handed, or packages that wait for others for ever.
func TestStandstills(t *testing.T) {
	implement := func(also ...string) Step {
		return Step{ID: "implement", Packages: &PackageRule{Take: []Lane{Planned}, Claim: InProgress, Success: ForReview, Failed: Planned,
			Until: []Lane{ForReview, InReview, Approved, Done, Canceled}, Also: also}}
	}
	review := func(also ...string) Step {
		return Step{ID: "review", Packages: &PackageRule{Take: []Lane{ForReview}, Claim: InReview, Success: Approved, Failed: Planned,
			Until: []Lane{Approved, Done, Canceled}, Also: also}}
	}
	ends := review()
	ends.Packages.Until = append(ends.Packages.Until, Planned)
	onward := review()
	onward.Packages.Failed = InProgress // which nobody takes up at review
	for _, c := range []struct {
		name  string
		steps []Step
		want  []string // path, and a part of the message
	}{
		{"each lends to the other", []Step{implement("review"), review("implement")}, nil},
		{"nobody reviews at implement", []Step{implement(), review("implement")}, []string{`steps[0].work_packages.success: also = ["review"]`}},
		{"nobody works again at review", []Step{implement("review"), review()}, []string{`steps[1].work_packages.failed: also = ["implement"]`}},
		{"a review that fails ends it", []Step{implement("review"), ends}, nil},
		{"a lent rule leads where nothing takes", []Step{{ID: "x", Packages: &PackageRule{Take: []Lane{Approved}, Claim: Approved, Success: Done, Failed: Done, Until: []Lane{Done}, Also: []string{"review"}}}, review("implement"), implement("review")},
			[]string{`steps[0].work_packages.also[0]: "planned"`}},
		{"to a lane of work that nobody takes up", []Step{implement("review"), onward}, []string{`steps[1].work_packages.failed: also = ["implement"]`}},
		{"no packages", []Step{{ID: "a"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := (&Definition{Key: "t", Steps: c.steps}).Standstills()
			for i, p := range found {
				if i >= len(c.want) {
					break
				}
				path, part, _ := strings.Cut(c.want[i], ": ")
				if p.Path != path || !strings.Contains(p.Message, part) {
					t.Errorf("%s: %s, not %s", p.Path, p.Message, c.want[i])
				}
			}
			if len(found) != len(c.want) {
				t.Fatalf("%d are found, not %d: %v", len(found), len(c.want), found)
			}
		})
	}
}
