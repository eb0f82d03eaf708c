package runner

import (
	"context"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// Case31: what depends on a canceled package is a question, in both sources:
// nobody is handed it before somebody chose, and both choices lead on. All
// canceled, the mission ends so.
func TestCanceledDependencyAsks_Case31(t *testing.T) {
	for _, source := range []string{"journal", "kitty-specs"} {
		for answer, want := range map[string]string{"go_on": "done", "cancel": "canceled"} {
			t.Run(source+", "+answer, func(t *testing.T) {
				files := packages(2)
				files["tasks/WP02.md"] = strings.Replace(files["tasks/WP02.md"], "dependencies: []", "dependencies: [WP01]", 1)
				if source == "kitty-specs" {
					files[lanes.LogFile] = laneLog("planned", "planned")
				}
				root := makeProject(t, packaged, files)
				p := started(t, root)
				ctx := context.Background()
				if _, err := p.WPMove(ctx, OperatorRequest{Mission: "m", Actor: "ops", Package: "WP01", To: "canceled"}); err != nil {
					t.Fatal(err)
				}
				a := must(t, p, report("a", cursor.Success))
				if a.Kind != KindDecision || value(a.DecisionID) != "package:WP01" || len(a.Options) != 2 || a.WPID != nil {
					t.Fatalf("%s, decision %s of %v, package %s (%s)", a.Kind, value(a.DecisionID), a.Options, value(a.WPID), value(a.Reason))
				}
				query, err := p.Query(ctx, "m", Caller{Agent: "a"})
				if err != nil || value(query.DecisionID) != value(a.DecisionID) || query.WPID != nil {
					t.Errorf("a query shows %s of %s: %v", value(query.DecisionID), value(query.WPID), err)
				}
				b, err := p.WPClaim(ctx, ClaimRequest{Mission: "m", Caller: Caller{Agent: "b"}, Package: "WP02"})
				if err != nil || b.WPID != nil {
					t.Fatalf("before the choice b is handed %s: %v", value(b.WPID), err)
				}
				a = must(t, p, Request{Mission: "m", Caller: Caller{Agent: "a"}, Answer: &answer, Result: cursor.Success})
				if given := value(a.WPID) == "WP02"; given != (answer == "go_on") {
					t.Fatalf("%s hands out %q: %s (%s)", answer, value(a.WPID), a.Kind, value(a.Reason))
				}
				for range 9 {
					if a.Kind == KindTerminal {
						break
					}
					a = must(t, p, report("a", cursor.Success))
				}
				if a.Kind != KindTerminal || a.MissionState != want {
					t.Errorf("the end is %s %s (%s)", a.Kind, a.MissionState, value(a.Reason))
				}
				wantSound(t, p)
			})
		}
	}
}
