package tick

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// lockBranch lays what a git leaves that is killed while it moves the loop's branch.
func (y *yard) lockBranch() string {
	path := filepath.Join(y.root, ".git", "refs", "heads", "loop", "deps.lock")
	write(y.t, path, "")
	return path
}

// wantTold wants status, doctor and the dry run of a recovery to name the lock.
func (y *yard) wantTold(lock string) {
	y.t.Helper()
	var told []string
	for _, w := range y.status().Warnings {
		told = append(told, w.Code+" "+w.Message)
	}
	if all := strings.Join(told, "\n"); !strings.Contains(all, "branch_locked "+lock) || !strings.Contains(all, "rm '"+lock+"'") {
		y.t.Errorf("status: %q", told)
	}
	told = nil
	for _, c := range y.loops().Preflight(y.t.Context(), "deps").Checks {
		if c.Check == "git" {
			told = append(told, string(c.Level)+" "+c.Message+" "+c.Fix)
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "warning "+lock) || !strings.Contains(told[0], "rm '"+lock+"'") {
		y.t.Errorf("doctor: %q", told)
	}
	report, err := y.loops().Recover(y.t.Context(), RecoverRequest{Loop: "deps", Who: "human:me", DryRun: true})
	if err != nil || report.ReasonCode != "dry_run" || !strings.Contains(report.Reason, lock) {
		y.t.Errorf("a dry run: %+v %v", report, err)
	}
}

// Rows 17 and 37: git and the tick died together while the branch was moved. The next
// tick, or a recovery, removes the lock and finishes the landing.
func TestLandingLeftLocked_Row17(t *testing.T) {
	for name, next := range map[string]func(y *yard) error{
		"a tick": func(y *yard) error {
			_, err := y.loops().Tick(t.Context(), Request{Loop: "deps", Who: "tick", ByHand: true})
			return err
		},
		"a recovery": func(y *yard) error {
			_, err := y.loops().Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, `test "$SPEC_KITTY_LOOP_TOKEN" = 1 || exit 1; `+commits)
			y.create("deps")
			y.killed(PointIntended)
			lock := y.lockBranch()
			y.wantTold(lock)
			must(t, next(y))
			if y.landed() != 1 || exists(lock) {
				t.Errorf("%d commits landed; the lock is there: %v", y.landed(), exists(lock))
			}
			if s := y.status(); s.Claim != nil || len(s.Warnings) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Row 37: git alone died. The lock is found before the work begins: it is removed, or the
// run fails and says what to do while nothing was spent yet.
func TestBranchLockedBeforeTheWork_Row37(t *testing.T) {
	y := newYard(t, `touch "$SPEC_KITTY_ROOT/worked"; `+commits)
	y.create("deps")
	lock := y.lockBranch()
	y.wantTold(lock)
	at := exec.Command("git", "cat-file", "--batch")
	at.Dir = y.root
	in, err := at.StdinPipe()
	must(t, err, at.Start())
	waitFor(t, "git is there", func() bool {
		name, _ := os.ReadFile(filepath.Join("/proc", itoa(uint64(at.Process.Pid)), "comm"))
		return strings.HasPrefix(string(name), "git")
	})
	report := y.tick(y.loops())
	in.Close()
	at.Wait()
	y.want(report, Failed, "branch_locked")
	if !strings.Contains(report.Reason, "rm '"+lock+"'") || exists(filepath.Join(y.root, "worked")) || !exists(lock) {
		t.Errorf("%s; worked: %v", report.Reason, exists(filepath.Join(y.root, "worked")))
	}
	later := y.loops(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	y.want(y.tick(later), Done, "success")
	if exists(lock) {
		t.Error("the lock is still there")
	}
}

// A landing whose lock nobody can judge is refused with the file's name, and does not
// keep the loop from being removed.
func TestLockedLandingIsGivenUp(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	y.killed(PointIntended)
	lock := y.lockBranch()
	host := *ThisHost()
	host.Name = "another"
	away := y.loops(func(o *Options) {
		o.Host, o.Now = &host, func() time.Time { return time.Now().Add(time.Hour) }
	})
	locked := new(worktree.LockedError)
	if _, err := away.Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"}); !errors.As(err, &locked) || !strings.Contains(err.Error(), "rm '"+lock+"'") {
		t.Errorf("%v", err)
	}
	report, err := away.Retire(t.Context(), "deps", "human:me", "over", true)
	if err != nil || !strings.Contains(report.Reason, "loop recover deps") {
		t.Errorf("%+v %v", report, err)
	}
	_, err = away.Remove(t.Context(), "deps", "human:me", false)
	wantRefusal(t, err, loop.ClaimLive)
	if !strings.Contains(err.Error(), "loop recover deps") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("%v", err)
	}
	_, err = away.Remove(t.Context(), "deps", "human:me", true)
	must(t, err)
	if exists(filepath.Join(y.root, ".state", "loops", "deps")) || !exists(lock) {
		t.Error("the loop is still there, or the lock was taken away")
	}
}
