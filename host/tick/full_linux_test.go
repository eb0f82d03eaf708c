package tick

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// small gives the loop's state a disk of its own that is soon full. Only who may mount
// one can have it.
func (y *yard) small() (fill, free func()) {
	y.t.Helper()
	state := filepath.Join(y.root, ".state")
	must(y.t, os.MkdirAll(state, 0o755))
	if err := unix.Mount("small", state, "tmpfs", 0, "size=512k"); err != nil {
		y.t.Skipf("no small disk can be mounted here: %v", err)
	}
	y.t.Cleanup(func() { unix.Unmount(state, unix.MNT_DETACH) })
	ballast := filepath.Join(state, "ballast")
	return func() {
			f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
			must(y.t, err)
			defer f.Close()
			for err == nil {
				_, err = f.Write(bytes.Repeat([]byte("x"), 512))
			}
			if !errors.Is(err, unix.ENOSPC) {
				y.t.Error(err)
			}
			y.stuff()
		}, func() {
			must(y.t, os.Remove(ballast))
		}
}

// stuff fills what is left of the journal's last block.
func (y *yard) stuff() {
	for _, n := range []int{3000, 1000, 300, 100, 30, 0} {
		for full := false; !full; {
			_, err := y.loops().Pause(y.t.Context(), PauseRequest{Loop: "deps", Who: "human:me", Reason: strings.Repeat("x", n)})
			full = errors.As(err, new(*commit.AppendError))
			if !full {
				must(y.t, err)
			}
		}
	}
}

// DiskFull, row 43: the disk is full while work goes on. No heartbeat can be written:
// the work is stopped before its lease is over. No outcome can be recorded either: it
// is left in the run's folder, and once there is room recover ends the run by it, and
// counts it once.
func TestDiskFullAtWork_DiskFull_Row43(t *testing.T) {
	t.Parallel()
	y := newYard(t, `echo $$ > "$SPEC_KITTY_ROOT/pid"; `+blocked+commits, func(d *loop.Definition) { d.Lease = 600 * time.Millisecond })
	fill, free := y.small()
	y.create("deps")
	ended := make(chan error, 1)
	go func() {
		_, err := y.loops().Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
		ended <- err
	}()
	waitFor(t, "the work began", func() bool { return y.begun() == 1 })
	fill()
	waitFor(t, "the work is stopped", func() bool { return !command.GroupLives(y.pid()) })
	y.recovered(<-ended, free, "failed")
}

// DiskFull, row 43, at the outcome: what the verifier said is not lost with the room
// for it.
func TestDiskFullAtOutcome_DiskFull_Row43(t *testing.T) {
	t.Parallel()
	y := newYard(t, commits, func(d *loop.Definition) {
		d.Lease, d.Verify = 600*time.Millisecond, &loop.Verifier{Check: *sh("exit 1")}
	})
	fill, free := y.small()
	y.create("deps")
	_, err := y.loops(hooked(func(point string) {
		if point == PointEnding {
			fill()
		}
	})).Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
	y.recovered(err, free, "verify_failed")
	if s := y.status(); s.Status != "halted" || s.Halt.Code != "verify_failed" {
		t.Errorf("%+v", s)
	}
}

// recovered wants a tick to have failed for the full disk, and its run to be ended by
// recover, once there is room, as it ended.
func (y *yard) recovered(ticked error, free func(), result string) {
	y.t.Helper()
	if !errors.As(ticked, new(*commit.AppendError)) {
		y.t.Fatalf("%v", ticked)
	}
	if s := y.status(); s.Claim == nil || s.LastRun != "" {
		y.t.Errorf("something was recorded on the full disk: %+v", s)
	}
	waitFor(y.t, "the lease is over", func() bool { return y.status().Status == "lost" })
	free()
	r, err := y.loops().Recover(y.t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"})
	if err != nil || r.ReasonCode != "recovered" {
		y.t.Errorf("%+v %v", r, err)
	}
	if s := y.status(); s.Claim != nil || s.LastRun != result || s.Count.Runs != 1 || s.Count.Failures != 1 {
		y.t.Errorf("%+v", s)
	}
	if v := y.verify(); len(v) > 0 {
		y.t.Errorf("the journal: %v", v)
	}
}
