//go:build unix

package tick

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Row 25, ClockJumps: whatever the wall clock says meanwhile, a run that is at work on
// this machine keeps its claim, and ends well.
func TestClockJumpsInARun_Row25(t *testing.T) {
	y := newYard(t, blocked+commits)
	y.create("deps")
	ended := y.background(t.Context())
	waitFor(t, "the work began", func() bool { return y.begun() == 1 })
	for _, jump := range []time.Duration{-10000 * time.Hour, 10000 * time.Hour} {
		at := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(jump) } })
		y.want(y.tick(at), Skipped, "busy")
		if r, err := at.Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"}); err != nil || r.ReasonCode != "nothing" {
			t.Errorf("%+v %v", r, err)
		}
		if s, err := at.Status(t.Context(), "deps"); err != nil || s.Status != "running" {
			t.Errorf("%+v %v", s, err)
		}
	}
	y.let()
	y.want(<-ended, Done, "success")
}

// Row 27: after a restart the claim of the old boot is reaped by the first tick, and no
// process is looked for, whatever has its id by then.
func TestRestarted_Row27(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	y.killed(PointWorking)
	host := *ThisHost()
	host.Boot = "another boot"
	host.Process = func(command.Process) loop.Liveness { return loop.Alive }
	host.Group = func(command.Process, string) loop.Liveness { return loop.Alive }
	restarted := func(o *Options) { o.Host = &host }
	y.want(y.tick(y.loops(restarted)), Skipped, "backoff")
	if s := y.status(); s.LastRun != "crashed" || s.Claim != nil {
		t.Errorf("%+v", s)
	}
	y.want(y.tick(y.loops(restarted, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } })), Done, "success")
}

// Row 15: what a dead runner left cannot be told from other processes. Nothing is
// killed, and nothing begins beside it, until a person vouches for its end.
func TestOrphanThatCannotBeTold_Row15(t *testing.T) {
	y := newYard(t, `echo $$ > "$SPEC_KITTY_ROOT/pid"; trap '' HUP; if test "$SPEC_KITTY_LOOP_TOKEN" = 1; then sleep 300; fi; `+commits)
	y.create("deps")
	hand := y.hand("")
	waitFor(t, "the agent is at work", func() bool { raw, _ := os.ReadFile(filepath.Join(y.root, "pid")); return len(raw) > 1 })
	must(t, hand.Process.Kill())
	hand.Wait()
	agent := y.pid()
	defer command.EndGroup(agent)
	host := *ThisHost()
	host.Group = func(command.Process, string) loop.Liveness { return loop.Unknown }
	unsure := func(o *Options) {
		o.Host, o.Now = &host, func() time.Time { return time.Now().Add(time.Hour) }
	}
	_, err := y.loops(unsure).Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
	wantRefusal(t, err, loop.OrphanAlive)
	r, err := y.loops(unsure).Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"})
	if err != nil || r.Outcome != Failed || r.ReasonCode != "orphan_alive" || !command.GroupLives(agent) {
		t.Errorf("%+v %v", r, err)
	}
	_, err = y.loops().Recover(t.Context(), RecoverRequest{Loop: "none", Who: "human:me", AssumeDead: true, Reason: "looked"})
	wantRefusal(t, err, loop.Untracked)
	r, err = y.loops(unsure).Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me", AssumeDead: true, Reason: "looked"})
	if err != nil || r.ReasonCode != "recovered" {
		t.Errorf("%+v %v", r, err)
	}
	later := func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } }
	y.want(y.tick(y.loops(unsure, later)), Done, "success")
}
