//go:build unix

package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// A hand is another process that ticks the loop of a yard: this test program,
// started anew. It can be killed at a named point.
const handVariable = "SPEC_KITTY_TICK_HAND"

// order is what a hand is told.
type order struct {
	Root    string
	Defs    map[string]*loop.Definition
	KillAt  string // named point of a tick; "": it is not killed there
	KillNth int    // 1: at the first point that it meets, of the tick or of a commit; 0: at none
	Barrier bool   // when it has read the loop, say so and wait for the end of the standard input
	Hold    bool   // hold the loop's lock until the file go is there, and nothing else
}

// atBarrier is what a hand says there.
const atBarrier = "ready\n"

func beHand() int {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(handVariable)), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	y := &yard{root: o.Root, defs: o.Defs}
	if o.Hold {
		return y.hold()
	}
	var met atomic.Int64 // its heartbeats meet points, too
	die := func(point string) {
		if n := met.Add(1); point == o.KillAt || n == int64(o.KillNth) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	l := y.loops(hooked(func(point string) {
		if die(point); point == PointRead && o.Barrier {
			fmt.Print(atBarrier)
			io.Copy(io.Discard, os.Stdin)
		}
	}), func(options *Options) { options.Commit.Hook = die })
	r, err := l.Tick(context.Background(), Request{Loop: "deps", Who: "hand", ByHand: true})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	raw, _ := json.Marshal(r)
	fmt.Println(string(raw))
	return 0
}

func (y *yard) hold() int {
	err := locks.At(y.loops().lockPath("deps")).Do(context.Background(), time.Minute, func(*locks.Held) error {
		if err := os.WriteFile(filepath.Join(y.root, "held"), nil, 0o644); err != nil {
			return err
		}
		for end := time.Now().Add(time.Minute); !exists(filepath.Join(y.root, "go")) && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond) // another process is waited for
		}
		return nil
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// hand starts one.
func (y *yard) hand(killAt string) *exec.Cmd {
	y.t.Helper()
	return y.start(order{Root: y.root, Defs: y.defs, KillAt: killAt})
}

func (y *yard) start(o order) *exec.Cmd { y.t.Helper(); return y.startAt(o, nil) }

// startAt is start with a standard input.
func (y *yard) startAt(o order, in *os.File) *exec.Cmd {
	y.t.Helper()
	return y.startIn(os.Getenv("PATH"), o, in)
}

// startIn is startAt with a PATH.
func (y *yard) startIn(path string, o order, in *os.File) *exec.Cmd {
	y.t.Helper()
	raw, err := json.Marshal(o)
	must(y.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), handVariable+"="+string(raw), "PATH="+path)
	out, err := os.Create(filepath.Join(y.t.TempDir(), "hand"))
	must(y.t, err)
	y.t.Cleanup(func() { out.Close() })
	cmd.Stdout, cmd.Stderr = out, out
	if in != nil {
		cmd.Stdin = in
	}
	must(y.t, cmd.Start())
	return cmd
}

// killed runs a hand that is killed at a point.
func (y *yard) killed(point string) {
	y.t.Helper()
	cmd := y.hand(point)
	cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		raw, _ := os.ReadFile(cmd.Stdout.(*os.File).Name())
		y.t.Fatalf("the hand was not killed at %s: %v\n%s", point, cmd.ProcessState, raw)
	}
}

// Rows 14, 16, 17, 18, 21, 27 in one: a tick is killed at each of its points. The
// next one goes on correctly, each run is counted once, its result lands once.
func TestKilledAtEachPoint(t *testing.T) {
	for _, tt := range []struct {
		point   string
		crashed bool // the run is lost; else it is finished
	}{
		{PointClaimed, true}, {PointGated, true}, {PointPlacing, true}, {PointWorking, true}, {PointWorked, true}, {PointVerified, true},
		{PointIntended, false}, {PointLanded, false}, {PointFinished, false}, {PointNotified, false},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, commits, func(d *loop.Definition) {
				d.Gate, d.Verify = sh("true"), &loop.Verifier{Check: *sh("true")}
				d.Notify = loop.Notify{Run: []string{"sh", "-c", `cat >> "$SPEC_KITTY_ROOT/notices"`}, On: []loop.Occasion{loop.OnLost, loop.OnDone}}
				d.Goal = sh(`test "$(wc -l < done.txt)" -ge 1`)
			})
			y.create("deps")
			y.killed(tt.point)
			y.loops().Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"})
			s := y.status()
			if s.Claim != nil {
				t.Fatalf("the claim is still there: %+v", s)
			}
			if !tt.crashed {
				if s.Status != "done" || s.Count.Runs != 1 {
					t.Errorf("%+v", s)
				}
				y.want(y.tick(y.loops()), Skipped, "done")
				if raw, _ := os.ReadFile(filepath.Join(y.root, "notices")); len(raw) == 0 {
					t.Error("row 21: the notice was lost")
				}
			} else {
				if s.LastRun != string(loop.EndCrashed) || s.Count.Failures != 1 {
					t.Errorf("%+v", s)
				}
				if _, err := y.loops().Clear(t.Context(), "deps", "human:me", "", "", false); err == nil {
					t.Error("there was something to clear")
				}
				later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } }) // past the backoff
				y.want(y.tick(later), Done, "success")
			}
			if got := git(t, y.root, "rev-list", "--count", "main..loop/deps"); got != "1" {
				t.Errorf("%s commits landed", got)
			}
			if v := y.verify(); len(v) > 0 {
				t.Errorf("the journal: %v", v)
			}
		})
	}
}

// verify reads the loop's whole journal.
func (y *yard) verify() []error {
	y.t.Helper()
	s, err := y.loops().folders.Open(y.t.Context(), "deps")
	must(y.t, err)
	report, err := s.Verify(y.t.Context())
	must(y.t, err)
	return report.Problems
}

// Row 15, OrphanAgent: the runner is killed, its agent lives on. The next tick
// burns the token, kills the agent, and only then begins again.
func TestOrphanAgent_Row15(t *testing.T) {
	y := newYard(t, `echo $$ >> "$SPEC_KITTY_ROOT/agents"; trap '' HUP; if ! test -e "$SPEC_KITTY_ROOT/second"; then sleep 300; fi; `+commits)
	y.create("deps")
	cmd := y.hand("")
	agents := filepath.Join(y.root, "agents")
	waitFor(t, "the agent is at work", func() bool { raw, _ := os.ReadFile(agents); return len(raw) > 0 })
	must(t, cmd.Process.Kill())
	cmd.Wait()
	raw, err := os.ReadFile(agents)
	must(t, err)
	var pid int
	fmt.Sscan(string(raw), &pid)
	if syscall.Kill(pid, 0) != nil {
		t.Fatal("the agent died with its runner, so this proves nothing")
	}
	write(t, filepath.Join(y.root, "second"), "")
	y.want(y.tick(y.loops()), Skipped, "backoff")
	if command.GroupLives(pid) {
		t.Error("the orphan still lives")
	}
	later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	y.want(y.tick(later), Done, "success")
	if s := y.status(); s.Count.Runs != 2 || s.Token != 2 {
		t.Errorf("%+v", s)
	}
}

// Row 15, of every other program of a run: its runner is killed, and what the program
// started in its group lives on, deaf to TERM. The next tick ends it.
func TestOrphansOfEveryPart_Row15(t *testing.T) {
	script := `trap '' TERM HUP; sleep 300 & echo $! > "$SPEC_KITTY_ROOT/left.new"; mv "$SPEC_KITTY_ROOT/left.new" "$SPEC_KITTY_ROOT/left"; wait`
	for part, change := range map[string]func(*loop.Definition){
		"gate":   func(d *loop.Definition) { d.Gate = sh(script) },
		"setup":  func(d *loop.Definition) { d.Worktree.Setup = []string{"sh", "-c", script} },
		"verify": func(d *loop.Definition) { d.Verify = &loop.Verifier{Check: *sh(script)} },
		"goal":   func(d *loop.Definition) { d.Goal = sh(script) },
		"notify": func(d *loop.Definition) {
			d.Approval.Before = []loop.Stage{loop.ToStart}
			d.Notify = loop.Notify{Run: []string{"sh", "-c", script}, On: []loop.Occasion{loop.OnWaiting}}
		},
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, commits, change)
			y.create("deps")
			cmd := y.hand("")
			var left int
			waitFor(t, part+" is at work", func() bool {
				raw, _ := os.ReadFile(filepath.Join(y.root, "left"))
				fmt.Sscan(string(raw), &left)
				return left > 0
			})
			must(t, cmd.Process.Kill())
			cmd.Wait()
			t.Cleanup(func() { syscall.Kill(left, syscall.SIGKILL) })
			if syscall.Kill(left, 0) != nil {
				t.Fatal("it died with its runner, so this proves nothing")
			}
			y.defs["deps"].Notify = loop.Notify{} // the program of this one would be at work again
			y.tick(y.loops())
			waitFor(t, "it is gone", func() bool { return syscall.Kill(left, 0) != nil })
			if s := y.status(); s.Claim != nil {
				t.Errorf("%+v", s)
			}
			if over, err := filepath.Glob(filepath.Join(y.loops().dir(), "deps", sendingName+"*")); err != nil || len(over) > 0 {
				t.Errorf("left over: %v %v", over, err)
			}
		})
	}
}

// Row 23, with a git of the runner in place of the work: both are stopped while git is
// about to reset a worktree, and overtaken. Woken, git is gone: it would have put the
// worktree of the next run back to where the first one began.
func TestStoppedGit_Row23(t *testing.T) {
	for _, place := range []string{"loop-deps", "loop-deps-verify"} {
		t.Run(place, func(t *testing.T) {
			y := newYard(t, `echo x >> done.txt; git add done.txt; git commit -q -m work`, func(d *loop.Definition) {
				d.Lease, d.Verify = 600*time.Millisecond, &loop.Verifier{Check: *sh("true")}
			})
			y.create("deps")
			y.want(y.tick(y.loops()), Done, "success") // the worktrees are there, to be reset
			zombie := y.startIn(stoppingGit(t, y, place), order{Root: y.root, Defs: y.defs}, nil)
			waitFor(t, "git is stopped", func() bool { return exists(filepath.Join(y.root, "pid")) })
			waitFor(t, "the lease is over", func() bool { return y.status().Status == "lost" })
			y.want(y.tick(y.loops()), Skipped, "backoff")
			if command.GroupLives(y.pid()) {
				t.Error("a git of the runner that was overtaken still lives")
			}
			later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
			y.want(y.tick(later), Done, "success")
			head := y.head()
			must(t, zombie.Process.Signal(syscall.SIGCONT))
			zombie.Wait()
			y.wantLost(zombie)
			if y.head() != head || y.status().Count.Runs > 3 {
				t.Errorf("the zombie wrote: %+v", y.status())
			}
		})
	}
}

// stoppingGit is a PATH whose git stops itself and the runner before it resets a
// worktree.
func stoppingGit(t *testing.T, y *yard, place string) string {
	t.Helper()
	real, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(fmt.Sprintf(`#!/bin/sh
case "$PWD $*" in
*/%s\ *" reset "*) echo $$ > %q; kill -STOP $PPID; kill -STOP $$;;
esac
exec %q "$@"
`, place, filepath.Join(y.root, "pid"), real)), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// Row 23, FencedZombie: a runner is stopped past its lease and overtaken. Woken, it
// writes nothing and moves no branch.
func TestFencedZombie_Row23(t *testing.T) {
	short := func(d *loop.Definition) { d.Lease = 600 * time.Millisecond }
	y := newYard(t, `if test "$SPEC_KITTY_LOOP_TOKEN" = 1; then touch "$SPEC_KITTY_ROOT/first"; while ! test -e "$SPEC_KITTY_ROOT/go"; do sleep 0.02; done; fi; `+commits, short)
	y.create("deps")
	zombie := y.hand("")
	waitFor(t, "the first work began", func() bool { return exists(filepath.Join(y.root, "first")) })
	must(t, zombie.Process.Signal(syscall.SIGSTOP))
	waitFor(t, "the lease is over", func() bool { return y.status().Status == "lost" })
	later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	y.want(y.tick(y.loops()), Skipped, "backoff")
	y.want(y.tick(later), Done, "success")
	head, revision := y.head(), y.status().Revision
	write(t, filepath.Join(y.root, "go"), "")
	must(t, zombie.Process.Signal(syscall.SIGCONT))
	zombie.Wait()
	if y.head() != head || y.status().Revision != revision {
		t.Errorf("the zombie wrote: head %s, was %s; revision %d, was %d", y.head(), head, y.status().Revision, revision)
	}
	y.wantLost(zombie)
}

// wantLost wants a hand that ended to have said that it lost its run.
func (y *yard) wantLost(hand *exec.Cmd) {
	y.t.Helper()
	raw, _ := os.ReadFile(hand.Stdout.(*os.File).Name())
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil || r.Outcome != Lost {
		y.t.Errorf("it said %s", raw)
	}
}

// R1, PauseSerializedWithConcurrentHolder: while another process holds the loop's
// lock, a pause is kept out; once it is free, the pause is there. Looking needs no
// lock. Red with the lock out.
func TestLockOfAnotherProcess_R1(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	holder := y.start(order{Root: y.root, Defs: y.defs, Hold: true})
	waitFor(t, "the lock is held", func() bool { return exists(filepath.Join(y.root, "held")) })
	pause := PauseRequest{Loop: "deps", Who: "human:me", Reason: "lunch"}
	_, err := y.loops(func(o *Options) { o.Commit.LockTimeout = time.Millisecond }).Pause(t.Context(), pause)
	if !errors.As(err, new(*commit.LockTimeoutError)) {
		t.Errorf("the pause went through: %v", err)
	}
	if s := y.status(); s.Status != "ready" {
		t.Errorf("%+v", s)
	}
	paused := make(chan error, 1)
	go func() {
		_, err := y.loops().Pause(context.Background(), pause)
		paused <- err
	}()
	y.let()
	must(t, <-paused, holder.Wait())
	if s := y.status(); s.Status != "paused" {
		t.Errorf("%+v", s)
	}
}

// A landing that died is finished on the branch that it began with, and only where
// the user consented: finishing it runs git's hooks.
func TestLandingIsFinishedOnItsBranch(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	y.killed(PointIntended)
	y.defs["deps"].Worktree.Branch = "release"
	y.trust = errors.New("nobody consented")
	if _, err := y.loops().Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"}); !errors.Is(err, y.trust) {
		t.Errorf("without consent: %v", err)
	}
	main := git(t, y.root, "rev-parse", "main")
	if y.head() != main {
		t.Fatal("the branch was moved without consent")
	}
	y.trust = nil
	if _, err := y.loops().Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"}); err != nil {
		t.Fatal(err)
	}
	if y.head() == main || git(t, y.root, "for-each-ref", "refs/heads/release") != "" {
		t.Error("another branch was moved than the one on record")
	}
}
