package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// Field case 03, by the plain call for work: eight processes that have all read the
// one ready package ask for work at once. One is handed it, the others are told who
// has it and since when, and whoever asks again is told the same. In both sources,
// 50 rounds each.
func TestEightAskForOnePackage_Case03(t *testing.T) {
	hands := make([]*hand, 8)
	for i := range hands {
		hands[i] = startHand(t)
	}
	for _, source := range []string{"journal", "kitty-specs"} {
		for round := range rounds(t, 50) {
			files := packages(2) // the second one waits for the first
			files["tasks/WP02.md"] = strings.Replace(files["tasks/WP02.md"], "dependencies: []", "dependencies: [WP01]", 1)
			if source == "kitty-specs" {
				files[lanes.LogFile] = laneLog("planned", "planned")
			}
			root := makeProject(t, packaged, files)
			p := started(t, root)
			orders := make([]order, len(hands))
			for i := range orders {
				q := report(fmt.Sprintf("agent-%d", i), cursor.Success)
				orders[i] = order{Root: root, Request: &q}
			}
			winner := -1
			var others []Answer
			for i, a := range together(hands, orders) {
				switch {
				case a.Kind != KindStep:
					others = append(others, a)
				case winner >= 0 || value(a.WPID) != "WP01":
					t.Fatalf("%s, round %d: %s is handed to agent-%d too", source, round, value(a.WPID), i)
				default:
					winner = i
				}
			}
			if winner < 0 {
				t.Fatalf("%s, round %d: nobody is handed WP01: %s", source, round, value(others[0].Reason))
			}
			held := fmt.Sprintf("agent-%d", winner)
			others = append(others, must(t, p, report("late", cursor.Success)))
			for _, a := range others {
				wantBlocked(t, a, "waiting_for_work_packages")
				if !strings.Contains(*a.Reason, held) || !strings.Contains(*a.Reason, "WP01") {
					t.Fatalf("%s, round %d: the holder is not named: %s", source, round, *a.Reason)
				}
			}
			if again := claim(t, p, held, ""); value(again.WPID) != "WP01" || again.Recorded {
				t.Fatalf("%s, round %d: asked again, %s gets %s", source, round, held, value(again.WPID))
			}
		}
	}
}
