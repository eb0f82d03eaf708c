package tick

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Row 43, the self-fence: heartbeats cannot be written, the lock is free and all else
// is well. The work is ended before its lease is over, so that whoever takes over
// finds nobody in the worktree.
func TestSelfFence_Row43(t *testing.T) {
	t.Parallel() // it waits
	// A folder lies where a heartbeat is written before it gets its name.
	y := newYard(t, `mkdir "$(dirname "$SPEC_KITTY_LOOP_USAGE")/.beat.tmp" && echo $$ > "$SPEC_KITTY_ROOT/pid"; `+blocked+commits, func(d *loop.Definition) { d.Lease = 2400 * time.Millisecond })
	y.create("deps")
	ended, over := time.Duration(0), false
	l := y.loops(hooked(func(point string) {
		if point == PointWorked {
			ended, over = ThisHost().Up(), y.status().Status == "lost"
		}
	}))
	y.want(y.tick(l), Failed, "fenced")
	if over || ended == 0 {
		t.Errorf("the work ended after its lease (%v)", ended)
	}
	if command.GroupLives(y.pid()) {
		t.Error("the work still lives")
	}
	if s := y.status(); s.Count.Runs != 1 || s.Count.Failures != 1 || s.Claim != nil {
		t.Errorf("%+v", s)
	}
}

// pid is what work wrote into the file of this name.
func (y *yard) pid() int {
	y.t.Helper()
	raw, err := os.ReadFile(filepath.Join(y.root, "pid"))
	must(y.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	must(y.t, err)
	return pid
}
