package tick

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// R7, CommitIsAtomic: a tick is stopped inside of the commit of its outcome. A pause
// is kept out until then, and afterwards both changes are there.
func TestCommitIsAtomic_R7(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	var ending atomic.Bool // the heartbeats meet points, too
	inside, release := make(chan struct{}), make(chan struct{})
	l := y.loops(hooked(func(point string) {
		if point == PointEnding {
			ending.Store(true)
		}
	}), func(o *Options) {
		o.Commit.Hook = func(point string) {
			if point == commit.PointAfterAppend && ending.CompareAndSwap(true, false) {
				close(inside)
				<-release
			}
		}
	})
	ticked := make(chan Report, 1)
	go func() {
		r, err := l.Tick(context.Background(), Request{Loop: "deps", Who: "tick", ByHand: true})
		if err != nil {
			r.Reason = err.Error()
		}
		ticked <- r
	}()
	<-inside
	pause := PauseRequest{Loop: "deps", Who: "human:me"}
	_, err := y.loops(func(o *Options) { o.Commit.LockTimeout = time.Millisecond }).Pause(t.Context(), pause)
	if !errors.As(err, new(*commit.LockTimeoutError)) {
		t.Errorf("the pause went through: %v", err)
	}
	paused := make(chan error, 1)
	go func() {
		_, err := y.loops().Pause(context.Background(), pause)
		paused <- err
	}()
	close(release)
	if r := <-ticked; r.Outcome != Done {
		t.Errorf("%+v", r)
	}
	must(t, <-paused)
	if s := y.status(); s.Status != "paused" || s.Count.Runs != 1 || s.LastRun != "success" {
		t.Errorf("%+v", s)
	}
}

// Row 28, E3, StaleLockFile: a lock file that a crash left, with whatever in it and
// of whatever age, is used again, and not read or written.
func TestStaleLockFile_Row28_E3(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	lock := y.loops().lockPath("deps")
	junk := "4194304 another-host 1999\n"
	must(t, os.WriteFile(lock, []byte(junk), 0o600), os.Chtimes(lock, time.Unix(0, 0), time.Unix(0, 0)))
	before, err := os.Stat(lock)
	must(t, err)
	y.want(y.tick(y.loops()), Done, "success")
	after, err := os.Stat(lock)
	must(t, err)
	if raw, err := os.ReadFile(lock); err != nil || string(raw) != junk || !os.SameFile(before, after) {
		t.Errorf("%q %v", raw, err)
	}
}

// Row 29: the lock file is deleted while it is held, so that somebody else gets "the
// same" lock. The holder sees it before it writes, and writes nothing.
func TestLockFileDeletedWhileHeld_Row29(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	first := true
	l := y.loops(func(o *Options) {
		o.Commit.Hook = func(point string) {
			if point != commit.PointBeforeAppend || !first {
				return
			}
			first = false
			must(t, os.Remove(y.loops().lockPath("deps")))
			_, err := y.loops().Pause(context.Background(), PauseRequest{Loop: "deps", Who: "human:b", Reason: "b"})
			must(t, err)
		}
	})
	if _, err := l.Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:a", Reason: "a"}); err == nil {
		t.Error("the first holder was told that it paused the loop")
	}
	if s := y.status(); s.Revision != 2 || !strings.Contains(s.Why, "human:b: b") {
		t.Errorf("%+v", s)
	}
	if _, err := l.Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:a", Reason: "a"}); err != nil || y.status().Revision != 3 {
		t.Errorf("%v %+v", err, y.status())
	}
}

// Row 20: a record that was cut off while it was appended was never acknowledged: it
// is not seen, and cut by the next writer. A view that is missing, or old, is made
// anew from the journal.
func TestTornRecord_Row20(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	dir := filepath.Join(y.loops().dir(), "deps")
	journal, view := filepath.Join(dir, JournalName), filepath.Join(dir, "state.json")
	whole, err := os.ReadFile(journal)
	must(t, err)
	old, err := os.ReadFile(view)
	must(t, err)
	must(t, os.WriteFile(journal, append(whole, whole[:len(whole)/2]...), 0o644))
	if s := y.status(); s.Status != "ready" || s.Revision != 1 {
		t.Errorf("%+v", s)
	}
	pause := func(why string) {
		_, err := y.loops().Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me", Reason: why})
		must(t, err)
	}
	pause("one")
	if raw, err := os.ReadFile(journal); err != nil || strings.Count(string(raw), "\n") != 2 || !strings.HasPrefix(string(raw), string(whole)) {
		t.Errorf("%s %v", raw, err)
	}
	must(t, os.WriteFile(view, old, 0o644))
	if s := y.status(); s.Status != "paused" || s.Revision != 2 {
		t.Errorf("an old view was believed: %+v", s)
	}
	must(t, os.Remove(view))
	if s := y.status(); s.Status != "paused" || s.Revision != 2 {
		t.Errorf("%+v", s)
	}
	pause("two")
	if s := y.status(); s.Revision != 3 {
		t.Errorf("%+v", s)
	}
}

// Row 22, E2, EmptyState: a loop that has lost its journal, or whose journal is no
// journal, is broken; it is never new, and nothing is written.
func TestEmptyState_Row22_E2(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"journal gone":  func(dir string) error { return os.Remove(filepath.Join(dir, JournalName)) },
		"journal empty": func(dir string) error { return os.WriteFile(filepath.Join(dir, JournalName), nil, 0o644) },
		"journal and view": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, runsName), 0o755), os.Remove(filepath.Join(dir, JournalName)), os.Remove(filepath.Join(dir, "state.json")))
		},
		"no journal": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, JournalName), []byte("{}\n{}\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, commits)
			y.create("deps")
			dir := filepath.Join(y.loops().dir(), "deps")
			must(t, damage(dir))
			before := contents(t, dir)
			s, err := y.loops().Status(t.Context(), "deps")
			if s.Status != "broken" || !Broken(err) {
				t.Errorf("%+v %v", s, err)
			}
			_, ticked := y.loops().Tick(t.Context(), Request{Loop: "deps", Who: "tick"})
			_, paused := y.loops().Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me"})
			_, retired := y.loops().Retire(t.Context(), "deps", "human:me", "", false)
			for _, err := range []error{ticked, paused, retired} {
				if !Broken(err) {
					t.Errorf("%v", err)
				}
			}
			_, err = y.loops().Create(t.Context(), "deps", "human:me")
			wantRefusal(t, err, loop.Exists)
			if after := contents(t, dir); after != before {
				t.Errorf("it was written:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// Row 22: a record that was changed or lost before what the view vouches for. No verb
// and no tick writes, and status says broken, although all of them begin at the view.
func TestDamagedInTheMiddle_Row22(t *testing.T) {
	replace := func(raw []byte) []byte { return bytes.Replace(raw, []byte(`"claimed"`), []byte(`"clajmed"`), 1) }
	for name, damage := range map[string]func(raw []byte) []byte{
		"one byte":         replace,
		"zeros":            func(raw []byte) []byte { clear(raw[20:60]); return raw },
		"with a torn tail": func(raw []byte) []byte { return append(replace(raw), "{\"v\":1,"...) },
		"a line end lost":  func(raw []byte) []byte { raw[bytes.IndexByte(raw, '\n')] = ' '; return raw },
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, commits)
			y.create("deps")
			y.want(y.tick(y.loops()), Done, "success")
			dir := filepath.Join(y.loops().dir(), "deps")
			raw, err := os.ReadFile(filepath.Join(dir, JournalName))
			must(t, err, os.WriteFile(filepath.Join(dir, JournalName), damage(raw), 0o644))
			before := contents(t, dir)
			l := y.loops()
			s, err := l.Status(t.Context(), "deps")
			if s.Status != "broken" && name != "with a torn tail" {
				t.Errorf("%+v %v", s, err)
			}
			for verb, err := range everyVerb(t, l, "deps") {
				if !Broken(err) {
					t.Errorf("%s: %v", verb, err)
				}
			}
			if after := contents(t, dir); after != before {
				t.Errorf("it was written:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// everyVerb calls all that may write.
func everyVerb(t *testing.T, l *Loops, name string) map[string]error {
	errs, me := map[string]error{}, "human:me"
	_, errs["tick"] = l.Tick(t.Context(), Request{Loop: name, Who: "tick", ByHand: true})
	_, errs["pause"] = l.Pause(t.Context(), PauseRequest{Loop: name, Who: me})
	_, errs["resume"] = l.Resume(t.Context(), name, me, "")
	_, errs["approve"] = l.Approve(t.Context(), name, me, "x", "")
	_, errs["deny"] = l.Deny(t.Context(), name, me, "x", "")
	_, errs["clear"] = l.Clear(t.Context(), name, me, "denied", "", false)
	_, errs["retire"] = l.Retire(t.Context(), name, me, "", false)
	_, errs["remove"] = l.Remove(t.Context(), name, me, false)
	return errs
}

// A branch that was moved, while the disk does not say that it lasts, is not on record
// as landed; the next tick makes sure of it and counts the run once.
func TestUnsyncedLanding_Row18(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	l := y.loops()
	l.repo.Disk = &durable.Faulty{Disk: durable.OS(), Fail: func(_ int, op durable.Op) error {
		if strings.HasPrefix(op.Kind, "sync") && strings.HasSuffix(op.Path, filepath.Join("heads", "loop", "deps")) && y.landed() > 0 {
			return os.ErrInvalid
		}
		return nil
	}}
	_, err := l.Tick(t.Context(), Request{Loop: "deps", Who: "tick"})
	if r, ok := Refusal("deps", err); !ok || r.ReasonCode != CommitUncertain {
		t.Fatalf("%+v %v", r, err)
	}
	if s := y.status(); s.Claim == nil || s.Claim.Phase != string(loop.InLanding) || y.landed() != 1 {
		t.Fatalf("%+v", s)
	}
	dead := func(o *Options) {
		o.Host = ThisHost()
		o.Host.Process = func(command.Process) loop.Liveness { return loop.Gone }
	}
	report, err := y.loops(dead).Recover(t.Context(), RecoverRequest{Loop: "deps", Who: "human:me"})
	if s := y.status(); err != nil || s.Claim != nil || s.Count.Runs != 1 || s.LastRun != "success" || y.landed() != 1 {
		t.Errorf("%+v %v: %+v", report, err, s)
	}
}

// An older copy of a loop's folder that was put back is told by name, gives no token
// twice, and has a way out; the later results stay where they are.
func TestOlderCopyIsTold(t *testing.T) {
	for _, packed := range []bool{false, true} {
		y := newYard(t, commits)
		y.create("deps")
		y.want(y.tick(y.loops()), Done, "success")
		dir := filepath.Join(y.loops().dir(), "deps")
		must(t, os.CopyFS(dir+".copy", os.DirFS(dir)))
		y.want(y.tick(y.loops()), Done, "success")
		y.want(y.tick(y.loops()), Done, "success")
		kept := git(t, y.root, "for-each-ref", "refs/spec-kitty")
		if packed {
			git(t, y.root, "pack-refs", "--all")
		}
		must(t, os.RemoveAll(dir), os.Rename(dir+".copy", dir))
		if s := y.status(); len(s.Warnings) != 1 || s.Warnings[0].Code != "older_copy" {
			t.Errorf("%+v", s)
		}
		y.want(y.tick(y.loops()), Halted, "older_copy")
		if after := git(t, y.root, "for-each-ref", "refs/spec-kitty"); after != kept {
			t.Errorf("results:\n%s\nwere:\n%s", after, kept)
		}
		_, err := y.loops().Clear(t.Context(), "deps", "human:me", "older_copy", "", false)
		must(t, err)
		y.want(y.tick(y.loops()), Done, "success")
		if s := y.status(); s.Token != 4 || len(s.Warnings) != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// Work that was left uncommitted is told, not taken for none.
func TestUncommittedWorkIsTold(t *testing.T) {
	y := newYard(t, `echo x > note; mkdir -p deep; echo x > deep/er`, func(d *loop.Definition) { d.Limits.MaxNoProgress = 1 })
	y.create("deps")
	r := y.tick(y.loops())
	s := y.status()
	for where, text := range map[string]string{"report": r.Reason, "status": s.Detail, "halt": s.Halt.Detail} {
		if !strings.Contains(text, "uncommitted") || !strings.Contains(text, "deep/, note") {
			t.Errorf("%s: %q", where, text)
		}
	}
	y = newYard(t, commits+`; echo x > note`)
	y.create("deps")
	if r := y.tick(y.loops()); r.ReasonCode != "success" || !strings.Contains(r.Reason, "uncommitted") || y.landed() != 1 {
		t.Errorf("%+v", r)
	}
}

// A person who is asked is shown what would start, or land, in words.
func TestWhatIsAskedIsDescribed(t *testing.T) {
	described := func(stage loop.Stage) string {
		y := newYard(t, commits, func(d *loop.Definition) {
			d.Approval.Before, d.Verify = []loop.Stage{stage}, &loop.Verifier{Check: *sh("true")}
		})
		y.create("deps")
		y.want(y.tick(y.loops()), Waiting, "waiting")
		rows, err := y.loops().Described(t.Context(), "deps", y.status().Approval.Subject)
		must(t, err)
		return fmt.Sprint(rows)
	}
	if got := described(loop.ToStart); !strings.Contains(got, "git commit -qm work") || !strings.Contains(got, "{verify sh -c true}") || !strings.Contains(got, " one}") {
		t.Error(got)
	}
	if got := described(loop.ToLand); !strings.Contains(got, " work}") || !strings.Contains(got, "{changes done.txt}") {
		t.Error(got)
	}
}

// A folder that was copied, or whose journal was only touched, is as good as before:
// it is read whole once, and goes on.
func TestTouchedJournalIsReadWhole_Row22(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	dir := filepath.Join(y.loops().dir(), "deps")
	must(t, os.Chtimes(filepath.Join(dir, JournalName), time.Unix(1, 0), time.Unix(1, 0)))
	must(t, os.Rename(dir, dir+".old"), os.CopyFS(dir, os.DirFS(dir+".old")), os.RemoveAll(dir+".old"))
	if s := y.status(); s.Status != "ready" {
		t.Errorf("%+v", s)
	}
	y.want(y.tick(y.loops()), Done, "success")
}

// contents are the names and bytes below a folder, without the lock file.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %q\n", path, raw)
		return err
	}))
	return all.String()
}

// R1, R4: whatever a verb ends with, the lock is free afterwards.
func TestLockIsFreeAfterEachEnd_R1_R4(t *testing.T) {
	y := newYard(t, commits)
	y.create("deps")
	ctx := t.Context()
	l := y.loops()
	pause := PauseRequest{Loop: "deps", Who: "human:me"}
	for name, verb := range map[string]func() error{
		"refused":   func() error { _, err := l.Resume(ctx, "deps", "human:me", ""); return err },
		"stale":     func() error { _, err := l.Approve(ctx, "deps", "human:me", "x", ""); return err },
		"done":      func() error { _, err := l.Pause(ctx, pause); return err },
		"skipped":   func() error { _, err := l.Tick(ctx, Request{Loop: "deps", Who: "tick"}); return err },
		"not there": func() error { _, err := l.Pause(ctx, PauseRequest{Loop: "none"}); return err },
		"remove":    func() error { _, err := l.Remove(ctx, "deps", "human:me", false); return err },
		"given up": func() error {
			over, cancel := context.WithCancel(ctx)
			cancel()
			_, err := l.Pause(over, pause)
			return err
		},
		"died": func() error {
			_, err := y.loops(func(o *Options) {
				o.Commit.Hook = func(point string) {
					if point == commit.PointBeforeAppend {
						panic("the program dies inside of a commit")
					}
				}
			}).Pause(ctx, pause)
			return err
		},
	} {
		func() {
			defer func() { _ = recover() }()
			_ = verb()
		}()
		if _, err := y.loops(func(o *Options) { o.Commit.LockTimeout = time.Second }).Pause(ctx, pause); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// Case41: limits and counters go on over pauses, new processes and a resume.
func TestCountersGoOn_Case41(t *testing.T) {
	y := newYard(t, commits, func(d *loop.Definition) { d.Limits.MaxRuns = 3 })
	y.create("deps")
	y.want(y.tick(y.loops()), Done, "success")
	y.want(y.tick(y.loops()), Done, "success")
	_, paused := y.loops().Pause(t.Context(), PauseRequest{Loop: "deps", Who: "human:me"})
	_, resumed := y.loops().Resume(t.Context(), "deps", "human:me", "")
	must(t, paused, resumed)
	for range 3 {
		y.tick(y.loops())
	}
	s := y.status()
	if s.Count.Runs != 3 || s.Token != 3 || s.Status != "halted" || s.Halt.Code != "limit_runs" {
		t.Errorf("%+v", s)
	}
	if got := git(t, y.root, "show", "loop/deps:done.txt"); got != "1\n2\n3" {
		t.Errorf("%q", got)
	}
}

// EscapedChild: a grandchild that left the session and the group does not keep the
// tick from ending; where processes' environments can be read, it is told.
func TestEscapedChild(t *testing.T) {
	y := newYard(t, `setsid sh -c 'touch "$SPEC_KITTY_ROOT/escaped"; exec sleep 60' & while ! test -e "$SPEC_KITTY_ROOT/escaped"; do sleep 0.02; done; `+commits)
	if _, err := exec.LookPath("setsid"); err != nil || !tellsEscaped() {
		t.Skip("processes' environments cannot be read here, or there is no setsid")
	}
	y.create("deps")
	r := y.tick(y.loops())
	y.want(r, Done, "success")
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "escaped_process" {
		t.Fatalf("%+v", r)
	}
	for _, pid := range escaped(mark(y.status().UID, 1)) {
		p, err := os.FindProcess(pid)
		must(t, err, p.Kill())
	}
}
