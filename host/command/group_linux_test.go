package command_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spec-kitty/step-runner/host/command"
)

// alive reads a process id from a file of the command's folder and tells whether
// that process has not ended.
func alive(t *testing.T, c command.Command, file string) bool {
	t.Helper()
	pid := pidIn(t, c, file)
	_, err := command.Identify(pid)
	return err == nil
}

func pidIn(t *testing.T, c command.Command, file string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Row 40: the leader ends and a process that it left holds the output. Run
// returns at once, with what was written; the process is killed and told of.
func TestGrandchildHoldsTheOutput_Row40(t *testing.T) {
	t.Parallel()
	c := sh(t, `sh -c 'trap "" TERM; echo $$ >grandchild; echo from it; while :; do sleep 60; done' &
		while [ ! -s grandchild ]; do sleep 0.01; done; echo done; exit 0`)
	begun := time.Now()
	r := run(t, c)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if r.Verdict() != command.Allow || r.Leftovers < 1 || r.Held || r.Unkillable {
		t.Errorf("%v: leftovers %d, held %t", r, r.Leftovers, r.Held)
	}
	if out := string(r.Stdout.Kept); !strings.Contains(out, "from it\n") || !strings.Contains(out, "done\n") {
		t.Errorf("stdout %q", out)
	}
	if alive(t, c, "grandchild") {
		t.Error("the grandchild is still there")
	}
}

// A process that made itself a session is out of reach, and cannot hold Run.
func TestEscapedGrandchildHoldsNobody(t *testing.T) {
	t.Parallel()
	c := sh(t, `setsid sh -c 'echo $$ >escaped; exec sleep 60' &
		while [ ! -s escaped ]; do sleep 0.01; done; echo done; exit 1`)
	r := run(t, c)
	defer func() { _ = unix.Kill(pidIn(t, c, "escaped"), unix.SIGKILL) }()
	if r.Verdict() != command.Refuse || !r.Held || string(r.Stdout.Kept) != "done\n" {
		t.Errorf("%v: held %t, stdout %q", r, r.Held, r.Stdout.Kept)
	}
	if !strings.HasSuffix(r.String(), "a process outside of its group held an output open, and was not ended") {
		t.Errorf("it is not told: %v", r)
	}
	if !alive(t, c, "escaped") {
		t.Error("the test's grandchild did not escape")
	}
}

// At the end of the time the whole group goes, also what ignores TERM.
func TestTimeoutEndsTheGroup(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]bool{"group": false, "session": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sh(t, `sh -c 'trap "" TERM; echo $$ >child; while :; do sleep 60; done' & wait`)
			c.Session, c.Timeout = session, time.Second
			r := run(t, c)
			if r.End != command.TimedOut || r.Unkillable {
				t.Errorf("%v", r)
			}
			if alive(t, c, "child") {
				t.Error("a child is still there")
			}
		})
	}
}

func TestGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]bool{"group": false, "session": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sh(t, "exec sleep 60")
			c.Session = session
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c.Started = func(p command.Process) error {
				defer cancel()
				group, err := unix.Getpgid(p.PID)
				if err != nil || group != p.PID || !command.GroupLives(group) {
					t.Errorf("group %d of %d, %v", group, p.PID, err)
				}
				sid, err := unix.Getsid(p.PID)
				if err != nil || (sid == p.PID) != session {
					t.Errorf("session %d of %d, %v", sid, p.PID, err)
				}
				if p.Start == "" || p.Boot == "" {
					t.Errorf("no identity: %+v", p)
				}
				return nil
			}
			if r := command.Run(ctx, c); r.End != command.Canceled {
				t.Error(r)
			}
		})
	}
}

// whoDies is the caller that TestATermWhenTheCallerDies kills.
func whoDies() {
	c := command.Command{
		Argv: []string{"sleep", "60"}, Dir: os.TempDir(), Session: os.Getenv(dyingVar) == "session",
		Started: func(p command.Process) error { _, err := fmt.Println(p.PID); return err },
	}
	command.Run(context.Background(), c)
}

// whoDiesWatching is the caller that TestWatchedGroupEnds kills.
func whoDiesWatching() {
	command.Run(context.Background(), command.Command{
		Argv: []string{"sh", "-c", `trap "" TERM; sh -c 'trap "" TERM; echo $$ >grandchild; while :; do sleep 60; done'`},
		Dir:  os.Getenv(dyingVar), Env: os.Environ(), KillGrace: 50 * time.Millisecond, Watched: true,
	})
}

// Whoever is killed while a watched program runs leaves nothing of it: neither the
// program nor what it started, though both ignore the TERM. Nothing is left of the
// watcher either.
func TestWatchedGroupEnds(t *testing.T) {
	t.Parallel()
	c := command.Command{Dir: t.TempDir()}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), dyingVar+"="+c.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the grandchild", func() bool {
		raw, err := os.ReadFile(filepath.Join(c.Dir, "grandchild"))
		return err == nil && strings.HasSuffix(string(raw), "\n")
	})
	if !alive(t, c, "grandchild") {
		t.Fatal("the grandchild is not there")
	}
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) != 2 {
		t.Fatalf("%v are there, not a program and its watcher", children)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await(t, "the grandchild's end", func() bool { return !alive(t, c, "grandchild") })
	for _, child := range children {
		await(t, "the end of a child", func() bool { return !child.Lives() })
	}
}

// childrenOf are the processes that one has started.
func childrenOf(t *testing.T, pid int) []command.Process {
	t.Helper()
	var all []command.Process
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(raw)) {
			id, _ := strconv.Atoi(word)
			child, err := command.Identify(id)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, child)
		}
	}
	return all
}

// What a watched program's end is told by is the program: its watcher goes with it.
func TestWatchedProgramEnds(t *testing.T) {
	c := sh(t, "exit 3")
	c.Watched = true
	if r := run(t, c); r.Exit != 3 {
		t.Errorf("%v", r)
	}
	if left := childrenOf(t, os.Getpid()); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// A guard's program does not outlive the runner that asked for it; one with a
// session of its own does (row 15).
func TestATermWhenTheCallerDies_Row15(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"group", "session"} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), dyingVar+"="+kind)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		pid, bad := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || bad != nil {
			t.Fatalf("%q: %v", line, err)
		}
		who, err := command.Identify(pid)
		if err != nil {
			t.Fatal(err)
		}
		await(t, "the program", func() bool {
			name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return err == nil && string(name) == "sleep\n"
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if kind == "session" {
			if !who.Lives() {
				t.Error("a program with a session of its own died with its caller")
			}
			command.EndGroup(pid)
		}
		await(t, "the program's end", func() bool { return !who.Lives() })
	}
}

// await polls for a condition that must come true.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long for ", what)
		}
	}
}

// Row 26: a process id that is somebody else's now does not pass for the old one.
func TestIdentityIsMoreThanAnID_Row26(t *testing.T) {
	me, err := command.Identify(os.Getpid())
	if err != nil || !me.Lives() {
		t.Fatalf("%+v, %v", me, err)
	}
	for name, other := range map[string]command.Process{
		"started at another time": {PID: me.PID, Start: me.Start + "1", Boot: me.Boot},
		"of another boot":         {PID: me.PID, Start: me.Start, Boot: "another"},
	} {
		if other.Lives() {
			t.Errorf("a process %s passes for this one", name)
		}
	}
}

// Row 48: a program gets its three streams and no other descriptor, not even one
// that we got ourselves without asking.
func TestNoDescriptorLeaks_Row48(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	file, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inherited, err := unix.Open(lock, unix.O_RDWR, 0) // not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	for name, started := range map[string]func(command.Process) error{"at once": nil, "held back": func(command.Process) error { return nil }} {
		c := sh(t, "")
		c.Argv, c.Started = []string{"ls", "/proc/self/fd"}, started
		r := run(t, c)
		if got := strings.Fields(string(r.Stdout.Kept)); len(got) != 4 { // the fourth is the listing's own
			t.Errorf("%s: descriptors %q", name, got)
		}
	}
}
