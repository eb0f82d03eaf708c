//go:build unix

package runner

import (
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Field case 33: kill -9 at every named point of a claim, and of a report, in a
// mission whose lanes lie in the log of the existing tool; the same call again
// goes on, log and run agree, and no move is made twice.
func TestKilledInTheLog_Case33(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each point")
	}
	for _, point := range append([]string{PointLogLocked, PointLogWritten}, reportPoints...) {
		t.Run(point, func(t *testing.T) {
			root := inLog(t, packaged, 2)
			started(t, root)
			kill(t, order{Root: root, Claim: &ClaimRequest{Mission: "m", Caller: Caller{Agent: "a"}}}, point)
			token := value(claim(t, open(t, root), "a", "").Token)
			wantLogAndRun(t, root, open(t, root), logCase{moves: map[string]int{"WP01": 2}})
			q := report("a", cursor.Success, token)
			kill(t, order{Root: root, Request: &q}, point)
			p := open(t, root)
			a := must(t, p, q)
			if at := laneIn(t, root, "WP01"); at.Lane != mission.ForReview || at.Author != "a" || value(a.WPID) != "WP02" {
				t.Errorf("%+v, then %s (%s)", at, value(a.WPID), value(a.Reason))
			}
			wantLogAndRun(t, root, p, logCase{moves: map[string]int{"WP01": 3, "WP02": 2}})
			wantSound(t, p)
		})
	}
}
