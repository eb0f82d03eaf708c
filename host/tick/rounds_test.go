package tick

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

// Case39: an approval opens one round. The next one asks anew, under an id of its own;
// a second approval of a round changes nothing, and that of an older round opens none.
func TestOneApprovalOpensOneRound_Case39(t *testing.T) {
	y := newYard(t, `echo x >> "$SPEC_KITTY_ROOT/effects"; `+commits, func(d *loop.Definition) { d.Approval.Before = []loop.Stage{loop.ToStart} })
	y.create("deps")
	effects := func() int {
		raw, _ := os.ReadFile(filepath.Join(y.root, "effects"))
		return len(raw) / 2
	}
	var asked []string
	for round := range 3 {
		y.want(y.tick(y.loops()), Waiting, "waiting")
		y.want(y.tick(y.loops()), Skipped, "waiting")
		id := y.status().Approval.ID
		for _, old := range asked {
			_, err := y.loops().Approve(t.Context(), "deps", "human:me", old, "")
			wantRefusal(t, err, loop.StaleApproval)
		}
		y.approve()
		_, err := y.loops().Approve(t.Context(), "deps", "human:you", id, "")
		wantRefusal(t, err, loop.AlreadyDecided)
		if got := effects(); got != round || slices.Contains(asked, id) {
			t.Fatalf("round %d: %d effects, request %s after %v", round, got, id, asked)
		}
		y.want(y.tick(y.loops()), Done, "success")
		_, err = y.loops().Approve(t.Context(), "deps", "human:me", id, "")
		wantRefusal(t, err, loop.NothingWaiting)
		asked = append(asked, id)
	}
	if got := effects(); got != 3 {
		t.Errorf("%d effects", got)
	}
}

// Each occasion is told to the notify command, as JSON on its standard input. What it
// does not take stays due, and is sent by the next tick under the same key.
func TestNoticesAreSent_Row21(t *testing.T) {
	for on, change := range map[loop.Occasion]func(*loop.Definition){
		loop.OnHalted:  func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh("exit 1")} },
		loop.OnWaiting: func(d *loop.Definition) { d.Approval.Before = []loop.Stage{loop.ToStart} },
		loop.OnDone:    func(d *loop.Definition) { d.Goal = sh("exit 0") },
		loop.OnOverdue: func(d *loop.Definition) { d.Gate, d.Notify.OverdueAfter = sh("exit 1"), time.Minute },
	} {
		t.Run(string(on), func(t *testing.T) {
			y := newYard(t, commits, change, func(d *loop.Definition) {
				d.Notify.Run, d.Notify.On = []string{"sh", "-c", `cat >> "$SPEC_KITTY_ROOT/notices"; test -e "$SPEC_KITTY_ROOT/reachable"`}, []loop.Occasion{on}
			})
			y.create("deps")
			r := y.tick(y.past())
			if n := len(r.Warnings); n == 0 || r.Warnings[n-1].Code != "notice_not_sent" || y.status().Due != 1 {
				t.Fatalf("%+v %+v", r, y.status())
			}
			write(t, filepath.Join(y.root, "reachable"), "")
			y.tick(y.past())
			y.tick(y.past())
			raw, err := os.ReadFile(filepath.Join(y.root, "notices"))
			must(t, err)
			var keys []string
			for line := range strings.Lines(string(raw)) {
				var n notice
				must(t, json.Unmarshal([]byte(line), &n))
				if n.On != on || n.Loop != "deps" || n.Root != y.root || n.Schema != ReportSchema || n.Detail == "" || n.At == "" {
					t.Errorf("%s", line)
				}
				keys = append(keys, n.Key)
			}
			if len(keys) != 2 || keys[0] != keys[1] || y.status().Due != 0 {
				t.Errorf("sent %q, %d due", keys, y.status().Due)
			}
		})
	}
}
