package tick

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// blocked is work that says that it began, then waits for a file.
const blocked = `echo x >> "$SPEC_KITTY_ROOT/begun"; while ! test -e "$SPEC_KITTY_ROOT/go"; do sleep 0.02; done; `

func (y *yard) begun() int {
	raw, _ := os.ReadFile(filepath.Join(y.root, "begun"))
	return len(raw) / 2
}

// background is a tick in a goroutine of its own.
func (y *yard) background(ctx context.Context) <-chan Report {
	done := make(chan Report, 1)
	go func() {
		r, err := y.loops().Tick(ctx, Request{Loop: "deps", Who: "tick", ByHand: true})
		if err != nil {
			r.Reason = err.Error()
		}
		done <- r
	}()
	return done
}

func (y *yard) let() { write(y.t, filepath.Join(y.root, "go"), "") }

// Rows 1 and 2, S1, SerializeConcurrent: of ticks that all have read the loop as free,
// and are released together, one gets the token; the others skip as busy while its
// work is kept at work.
func TestSerializeConcurrent_Row1_Row2_S1(t *testing.T) {
	rounds := 3
	if *torture {
		rounds = 200
	}
	if testing.Short() {
		rounds = 1
	}
	y := newYard(t, blocked+commits, func(d *loop.Definition) { d.Limits.MaxRuns = 10000 })
	y.create("deps")
	for round := range rounds {
		const n = 8
		var read sync.WaitGroup
		read.Add(n)
		begin, answers := make(chan struct{}), make(chan Report, n)
		held := hooked(func(point string) {
			if point == PointRead {
				read.Done()
				<-begin
			}
		})
		for range n {
			go func() {
				r, err := y.loops(held).Tick(context.Background(), Request{Loop: "deps", Who: "tick", ByHand: true})
				if err != nil {
					r.Reason = err.Error()
				}
				answers <- r
			}()
		}
		read.Wait()
		close(begin)
		for range n - 1 {
			if r := <-answers; r.Outcome != Skipped || r.ReasonCode != "busy" {
				t.Fatalf("round %d: %+v", round, r)
			}
		}
		if begun := y.begun(); begun > round+1 {
			t.Fatalf("round %d: the work began %d times", round, begun)
		}
		y.let()
		if r := <-answers; r.Outcome != Done {
			t.Fatalf("round %d: %+v", round, r)
		}
		must(t, os.Remove(filepath.Join(y.root, "go")))
		if s := y.status(); s.Token != uint64(round+1) || s.Count.Runs != round+1 || y.begun() != round+1 {
			t.Fatalf("round %d: token %d, %d runs, %d begun", round, s.Token, s.Count.Runs, y.begun())
		}
	}
}

// The second form: of pauses that are released together each counts once.
func TestConcurrentPauses_SerializeConcurrent(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	before := y.status().Revision
	var wg sync.WaitGroup
	begin := make(chan struct{})
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			l := y.loops()
			<-begin
			_, errs[i] = l.Pause(context.Background(), PauseRequest{Loop: "deps", Who: "human:me", Reason: fmt.Sprint(i)})
		})
	}
	close(begin)
	wg.Wait()
	must(t, errs...)
	if after := y.status().Revision; after != before+8 {
		t.Errorf("the revision grew by %d", after-before)
	}
}

// Rows 3, 6, 7, S2, S3, R2, PauseDoesNotWaitForWork: while the work is blocked, operators are answered at once,
// and the run's end undoes none of them.
func TestOperatorsDoNotWaitForWork_Row3_Row6_Row7_S2_S3_S6(t *testing.T) {
	y := newYard(t, blocked+commits)
	y.create("deps")
	ended := y.background(t.Context())
	waitFor(t, "the work began", func() bool { return y.begun() == 1 })
	l := y.loops()
	if r, err := l.Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me", Reason: "lunch"}); err != nil || r.ReasonCode != "paused" {
		t.Fatalf("%+v %v", r, err)
	}
	if s := y.status(); s.Status != "pausing" {
		t.Errorf("%+v", s)
	}
	_, err := l.Approve(t.Context(), "deps", "human:me", "01X", "")
	wantRefusal(t, err, loop.NothingWaiting)
	if _, err := l.Resume(t.Context(), "deps", "human:me", ""); err != nil {
		t.Fatal(err)
	}
	if s := y.status(); s.Status != "running" || s.Token != 1 {
		t.Errorf("row 6: %+v", s)
	}
	if _, err := l.Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me"}); err != nil {
		t.Fatal(err)
	}
	y.let()
	if r := <-ended; r.Outcome != Done {
		t.Fatalf("%+v", r)
	}
	if s := y.status(); s.Status != "paused" || s.Count.Runs != 1 {
		t.Errorf("the run's end undid the pause: %+v", s)
	}
	y.want(y.tick(y.loops()), Skipped, "paused")
}

// Row 4: a pause between the unlocked read and the claim.
func TestPauseBeforeTheClaim_Row4(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	l := y.loops(hooked(func(point string) {
		if point == PointRead {
			_, err := y.loops().Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me"})
			must(t, err)
		}
	}))
	y.want(y.tick(l), Skipped, "paused")
	if s := y.status(); s.Token != 0 {
		t.Errorf("a token was given: %+v", s)
	}
}

// Row 5: pause --now ends the run as canceled; no failure is counted.
func TestPauseNow_Row5(t *testing.T) {
	y := newYard(t, "trap '' TERM; "+blocked)
	y.create("deps")
	ended := y.background(t.Context())
	waitFor(t, "the work began", func() bool { return y.begun() == 1 })
	if _, err := y.loops().Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me", Now: true, Wait: true}); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.Outcome != Canceled {
		t.Errorf("%+v", r)
	}
	if s := y.status(); s.Status != "paused" || s.Count.Failures != 0 || s.LastRun != "canceled" {
		t.Errorf("%+v", s)
	}
}

// A signal to the runner ends the work, and the run as canceled.
func TestInterrupted(t *testing.T) {
	y := newYard(t, blocked)
	y.create("deps")
	ctx, stop := context.WithCancelCause(t.Context())
	ended := y.background(ctx)
	waitFor(t, "the work began", func() bool { return y.begun() == 1 })
	stop(errors.New("interrupt"))
	if r := <-ended; r.Outcome != Canceled {
		t.Errorf("%+v", r)
	}
	if s := y.status(); s.Claim != nil || s.Count.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

// Rows 8 and 10, ApprovalMatrix: of decisions made together the first wins, and a
// grant is used by one tick.
func TestDecisions_Row8_Row9_Row10(t *testing.T) {
	y := newYard(t, commits, func(d *loop.Definition) { d.Approval.Before = []loop.Stage{loop.ToStart, loop.ToLand} })
	y.create("deps")
	y.want(y.tick(y.loops()), Waiting, "waiting")
	a := y.status().Approval
	errs := make(chan error, 8)
	begin := make(chan struct{})
	for i := range 8 {
		go func() {
			l := y.loops()
			<-begin
			_, err := l.Approve(context.Background(), "deps", fmt.Sprintf("human:%d", i), a.ID, "")
			errs <- err
		}()
	}
	close(begin)
	won := 0
	for range 8 {
		if err := <-errs; err == nil {
			won++
		} else if !refusedAs(err, loop.AlreadyDecided) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d decisions were taken", won)
	}
	_, err := y.loops().Deny(t.Context(), "deps", "human:x", a.ID, "")
	wantRefusal(t, err, loop.AlreadyDecided)

	y.want(y.tick(y.loops()), Waiting, "waiting") // the work is done, the landing is asked
	b := y.status().Approval
	if b.ID == a.ID || b.Subject.Stage != loop.ToLand {
		t.Fatalf("%+v", b)
	}
	git(t, y.root, "branch", "-f", "loop/deps", git(t, y.root, "commit-tree", "-p", "loop/deps", "-m", "x", "loop/deps^{tree}"))
	_, err = y.loops().Approve(t.Context(), "deps", "human:me", b.ID, "")
	wantRefusal(t, err, loop.StaleApproval)
	y.want(y.tick(y.loops()), Waiting, "waiting") // asked anew, before the start
}

// Row 13 and S5, GateCliFromInside: a run that calls us on its own loop is refused,
// without waiting.
func TestFromInside_Row13_S5(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	inside := y.loops(func(o *Options) {
		o.Getenv = func(name string) string {
			if name == variable {
				return "uid/1"
			}
			return ""
		}
	})
	_, err := inside.Tick(t.Context(), Request{Loop: "deps", Who: "agent"})
	wantRefusal(t, err, loop.NestedTick)
	_, err = inside.Approve(t.Context(), "deps", "human:me", "x", "")
	wantRefusal(t, err, loop.SelfApproval)
	_, err = inside.Resume(t.Context(), "deps", "human:me", "")
	wantRefusal(t, err, loop.SelfApproval)
	_, err = inside.Clear(t.Context(), "deps", "human:me", "x", "", false)
	wantRefusal(t, err, loop.SelfApproval)
	_, err = inside.Deny(t.Context(), "deps", "human:me", "x", "")
	wantRefusal(t, err, loop.SelfApproval)
	_, err = inside.Pause(t.Context(), PauseRequest{Loop: "deps"})
	wantRefusal(t, err, loop.InsideRun)
	_, err = inside.Retire(t.Context(), "deps", "human:me", "", false)
	wantRefusal(t, err, loop.InsideRun)
	_, err = inside.Remove(t.Context(), "deps", "human:me", true)
	wantRefusal(t, err, loop.InsideRun)
	_, err = inside.Create(t.Context(), "deps", "human:me")
	wantRefusal(t, err, loop.InsideRun)
	_, err = inside.Recover(t.Context(), RecoverRequest{Loop: "deps"})
	wantRefusal(t, err, loop.InsideRun)
	if _, err := inside.Recover(t.Context(), RecoverRequest{Loop: "deps", DryRun: true}); err != nil {
		t.Error(err)
	}
	if _, err := inside.Status(t.Context(), "deps"); err != nil {
		t.Error(err)
	}
	if _, err := inside.Check(t.Context(), "deps"); err != nil {
		t.Error(err)
	}
}

// R5 and PerLoop: one loop's lock is held; its verbs end at the limit, those of
// another one succeed. PauseSerializedWithConcurrentHolder: then the pause goes on.
func TestPerLoop_R5_Row42(t *testing.T) {
	y := newYard(t, commits)
	y.define("other", commits)
	y.create("deps")
	y.create("other")
	lock := locks.At(filepath.Join(y.loops().dir(), "deps", "state.json.lock"))
	held, release := make(chan struct{}), make(chan struct{})
	go lock.Do(context.Background(), time.Minute, func(*locks.Held) error {
		close(held)
		<-release
		return nil
	})
	<-held
	soon := func(o *Options) { o.Commit.LockTimeout = 200 * time.Millisecond }
	_, err := y.loops(soon).Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me"})
	if timeout := new(commit.LockTimeoutError); !errors.As(err, &timeout) {
		t.Errorf("%v", err)
	}
	if _, err := y.loops(soon).Pause(t.Context(), PauseRequest{Loop: "other", Who: "human:me"}); err != nil {
		t.Errorf("the other loop: %v", err)
	}
	if s, err := y.loops(soon).Status(t.Context(), "deps"); err != nil || s.Status != "ready" {
		t.Errorf("%+v %v", s, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := y.loops().Pause(context.Background(), PauseRequest{Loop: "deps", Who: "human:me"})
		done <- err
	}()
	close(release)
	must(t, <-done)
	if s := y.status(); s.Status != "paused" {
		t.Errorf("%+v", s)
	}
}

// P2 and R3, LockNotHeldWhileWorking: in each program of a run the lock is free.
func TestLockNotHeldWhileWorking_R3(t *testing.T) {
	wait := func(part string) string {
		return fmt.Sprintf(`touch "$SPEC_KITTY_ROOT/in-%s"; while ! test -e "$SPEC_KITTY_ROOT/out-%s"; do sleep 0.02; done; `, part, part)
	}
	y := newYard(t, wait("work")+commits, func(d *loop.Definition) {
		d.Gate, d.Goal = sh(wait("gate")), sh(wait("goal"))
		d.Verify = &loop.Verifier{Check: *sh(wait("verify"))}
		d.Worktree.Setup = []string{"sh", "-c", wait("setup")}
		d.Notify = loop.Notify{Run: []string{"sh", "-c", wait("notify")}, On: []loop.Occasion{loop.OnDone}}
	})
	y.create("deps")
	ended := y.background(t.Context())
	lock := locks.At(filepath.Join(y.loops().dir(), "deps", "state.json.lock"))
	for _, part := range []string{"gate", "setup", "work", "verify", "goal", "notify"} {
		waitFor(t, part+" runs", func() bool { return exists(filepath.Join(y.root, "in-"+part)) })
		if err := lock.Do(t.Context(), 0, func(*locks.Held) error { return nil }); err != nil {
			t.Errorf("in %s the lock is held: %v", part, err)
		}
		write(t, filepath.Join(y.root, "out-"+part), "")
	}
	if r := <-ended; r.Outcome != Done {
		t.Errorf("%+v", r)
	}
}

// Rows 31 and 32, E4, DirDeletedMidHold: the loop's folder is removed, or removed and made anew,
// during a run: its work is killed, nothing is made anew, the new loop untouched.
func TestFolderRemovedInARun_Row31_Row32_E4(t *testing.T) {
	for _, anew := range []bool{false, true} {
		t.Run(fmt.Sprint("made anew ", anew), func(t *testing.T) {
			y := newYard(t, blocked+commits)
			y.create("deps")
			done := make(chan error, 1)
			go func() {
				_, err := y.loops().Tick(context.Background(), Request{Loop: "deps", Who: "tick", ByHand: true})
				done <- err
			}()
			waitFor(t, "the work began", func() bool { return y.begun() == 1 })
			dir := filepath.Join(y.loops().dir(), "deps")
			must(t, os.RemoveAll(dir))
			if anew {
				y.create("deps")
			}
			if err := <-done; !errors.As(err, new(*GoneError)) {
				t.Errorf("%v", err)
			}
			if !anew && exists(dir) {
				t.Error("the folder was made anew")
			}
			if anew {
				if s := y.status(); s.Revision != 1 || s.Token != 0 {
					t.Errorf("the new loop: %+v", s)
				}
			}
		})
	}
}

// Row 33 and E1: a tick on what is no loop leaves no file.
func TestUntracked_Row33_E1(t *testing.T) {
	y := newYard(t, commits)
	_, err := y.loops().Tick(t.Context(), Request{Loop: "deps", Who: "tick"})
	wantRefusal(t, err, loop.Untracked)
	if exists(filepath.Join(y.root, ".state")) {
		t.Error("something was made")
	}
}

// Row 19: the branch was moved during the run, by somebody else or by the work itself:
// the loop is halted, and what the run left is kept.
func TestBranchMoved_Row19(t *testing.T) {
	elsewhere := `git update-ref refs/heads/loop/deps $(git commit-tree -p main -m x main^{tree})`
	for name, tt := range map[string]struct {
		work, verify string
		verified     bool
	}{
		"during the work":     {elsewhere + " && " + commits, "true", false},
		"deleted by the work": {commits + " && git update-ref -d refs/heads/loop/deps", "true", false},
		"before the landing":  {commits, "cd $SPEC_KITTY_ROOT && " + elsewhere, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, tt.work, func(d *loop.Definition) {
				d.Verify = &loop.Verifier{Check: *sh("touch $SPEC_KITTY_ROOT/verified; " + tt.verify)}
			})
			y.create("deps")
			y.want(y.tick(y.loops()), Halted, "branch_moved")
			if kept := git(t, y.root, "show", "refs/spec-kitty/loops/deps/1:done.txt"); kept != "1" {
				t.Errorf("the result was not kept: %q", kept)
			}
			s := y.status()
			if exists(filepath.Join(y.root, "verified")) != tt.verified || s.LastRun != "branch_moved" || s.Count.Failures != 0 || s.Count.Runs != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Row 43: the outcome cannot be committed before the lease is over; it is left
// beside the run, and whoever comes next takes it over as it was.
func TestOutcomeIsLeft_Row43(t *testing.T) {
	y := newYard(t, blocked+commits, func(d *loop.Definition) { d.Lease, d.Verify = time.Second, &loop.Verifier{Check: *sh("exit 1")} })
	y.create("deps")
	lock := locks.At(filepath.Join(y.loops().dir(), "deps", "state.json.lock"))
	release := make(chan struct{})
	held := make(chan struct{})
	l := y.loops(func(o *Options) { o.Commit.LockTimeout = 100 * time.Millisecond }, hooked(func(point string) {
		if point == PointEnding {
			go lock.Do(context.Background(), time.Minute, func(*locks.Held) error {
				close(held)
				<-release
				return nil
			})
			<-held
		}
	}))
	y.let()
	_, err := l.Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
	if timeout := new(commit.LockTimeoutError); !errors.As(err, &timeout) {
		t.Fatalf("%v", err)
	}
	close(release)
	waitFor(t, "the lease is over", func() bool { return y.status().Status == "lost" })
	y.want(y.tick(y.loops()), Skipped, "halted")
	if s := y.status(); s.Halt == nil || s.Halt.Code != "verify_failed" || s.Count.Runs != 1 {
		t.Errorf("%+v", s)
	}
}
