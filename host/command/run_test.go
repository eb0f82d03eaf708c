//go:build unix

package command_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
)

// sh is a command that runs a script in a new folder, with a PATH.
func sh(t *testing.T, script string) command.Command {
	t.Helper()
	return command.Command{
		Name: "test", Argv: []string{"sh", "-c", script}, Dir: t.TempDir(),
		Env: command.Environ([]string{"PATH"}, nil, os.LookupEnv), Timeout: time.Minute, KillGrace: 200 * time.Millisecond,
	}
}

func run(t *testing.T, c command.Command) command.Result {
	t.Helper()
	begun := time.Now()
	r := command.Run(context.Background(), c)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("Run took %v", took)
	}
	return r
}

// FR-008, Case08: only exit 0 is a yes and only exit 1 is a no.
func TestVerdictOfEveryEnd_Case08(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		end     command.End
		exit    int
		verdict command.Verdict
	}{
		"yes":            {"exit 0", command.Exited, 0, command.Allow},
		"no":             {"exit 1", command.Exited, 1, command.Refuse},
		"trouble":        {"exit 2", command.Exited, 2, command.Failed},
		"not executable": {"exit 126", command.Exited, 126, command.Failed},
		"mistyped":       {"no-such-program-at-all", command.Exited, 127, command.Failed},
		"signal":         {"kill -9 $$", command.Signaled, -1, command.Failed},
		"term":           {"kill -TERM $$", command.Signaled, -1, command.Failed},
		"says yes":       {"echo allow; exit 255", command.Exited, 255, command.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, sh(t, c.script))
			if r.End != c.end || r.Exit != c.exit || r.Verdict() != c.verdict {
				t.Errorf("%s, exit %d, %s; want %s, %d, %s", r.End, r.Exit, r.Verdict(), c.end, c.exit, c.verdict)
			}
		})
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	write(t, plain, "#!/bin/sh\n", 0o600)
	write(t, filepath.Join(dir, "odd"), "no program", 0o700)
	write(t, filepath.Join(dir, "lost"), "#!/no/such/interpreter\n", 0o700)
	for name, c := range map[string]struct {
		command command.Command
		words   string
	}{
		"no such program":      {command.Command{Argv: []string{"no-such-program-at-all"}, Dir: dir}, "not found"},
		"no such file":         {command.Command{Argv: []string{"./none"}, Dir: dir}, "no such file"},
		"not executable":       {command.Command{Argv: []string{"./plain"}, Dir: dir}, "permission denied"},
		"not a program":        {command.Command{Argv: []string{"./odd"}, Dir: dir}, "exec format error"},
		"no interpreter":       {command.Command{Argv: []string{"./lost"}, Dir: dir}, "no such file"},
		"a folder":             {command.Command{Argv: []string{dir}, Dir: dir}, "permission denied"},
		"nothing named":        {command.Command{Dir: dir}, "no program"},
		"folder gone":          {command.Command{Argv: []string{"true"}, Dir: filepath.Join(dir, "gone")}, "working folder"},
		"folder is a file":     {command.Command{Argv: []string{"true"}, Dir: plain}, "not a folder"},
		"folder not absolute":  {command.Command{Argv: []string{"true"}, Dir: "."}, "not absolute"},
		"zero byte":            {command.Command{Argv: []string{"true", "a\x00b"}, Dir: dir}, "zero byte"},
		"zero byte in the env": {command.Command{Argv: []string{"true"}, Env: []string{"A=\x00"}, Dir: dir}, "zero byte"},
	} {
		for _, held := range []bool{false, true} {
			if held {
				name += ", held back"
				c.command.Started = func(command.Process) error { return nil }
			}
			t.Run(name, func(t *testing.T) {
				r := run(t, c.command)
				if r.End != command.NotStarted || r.Err == nil || !strings.Contains(r.Err.Error(), c.words) || r.Verdict() != command.Failed {
					t.Errorf("%s: %v, %s; want %q", r.End, r.Err, r.Verdict(), c.words)
				}
				if !strings.Contains(r.String(), "could not be started") {
					t.Error(r)
				}
			})
		}
	}
}

// A program gets its arguments as they are, its folder, its input and the
// environment that it was granted.
func TestWhatAProgramGets(t *testing.T) {
	t.Setenv("SECRET", "leaked")
	c := sh(t, "")
	c.Argv = []string{"sh", "-c", `printf '%s|' "$@"; pwd -P; cat; env >&2`, "sh", "a b", "$(id)", "", "*", "'"}
	c.Stdin = []byte("input\n")
	c.Env = append(c.Env, "SPEC_KITTY_TOKEN=T")
	r := run(t, c)
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Stdout.Kept), "a b|$(id)||*|'|"+dir+"\ninput\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	env := string(r.Stderr.Kept)
	if !strings.Contains(env, "SPEC_KITTY_TOKEN=T\n") || strings.Contains(env, "SECRET") || strings.Contains(env, "HOME=") {
		t.Errorf("environment %q", env)
	}
}

func TestInputThatNobodyReads(t *testing.T) {
	t.Parallel()
	c := sh(t, "exit 0")
	c.Stdin = make([]byte, 1<<20)
	if r := run(t, c); r.Verdict() != command.Allow {
		t.Error(r)
	}
	if r := run(t, sh(t, "cat")); r.Verdict() != command.Allow || r.Stdout.Bytes != 0 {
		t.Errorf("without input: %v, %d bytes", r, r.Stdout.Bytes)
	}
}

func TestOutputIsKeptFromItsEnd(t *testing.T) {
	t.Parallel()
	c := sh(t, `i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done; echo no >&2; exit 1`)
	c.Output = 1000
	r := run(t, c)
	var all strings.Builder
	for i := range 3000 {
		all.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	sum := sha256.Sum256([]byte(all.String()))
	out := r.Stdout
	if out.Bytes != int64(all.Len()) || out.SHA256 != hex.EncodeToString(sum[:]) || !out.Truncated {
		t.Errorf("%d bytes of %d, digest %s, truncated %t", out.Bytes, all.Len(), out.SHA256, out.Truncated)
	}
	if want := all.String()[all.Len()-1000:]; string(out.Kept) != want {
		t.Errorf("kept %q", out.Kept)
	}
	if string(r.Stderr.Kept) != "no\n" || r.Stderr.Truncated || r.Verdict() != command.Refuse {
		t.Errorf("stderr %+v, %s", r.Stderr, r.Verdict())
	}
}

// A flood is read to the end of the time and costs neither memory nor disk.
func TestFloodEndsWithItsTime(t *testing.T) {
	t.Parallel()
	c := sh(t, "exec cat /dev/zero")
	c.Timeout, c.Output = 200*time.Millisecond, 1<<10
	r := run(t, c)
	if r.End != command.TimedOut || !r.Stdout.Truncated || len(r.Stdout.Kept) != 1<<10 || cap(r.Stdout.Kept) > 1<<18 {
		t.Errorf("%v, kept %d of %d (room for %d)", r, len(r.Stdout.Kept), r.Stdout.Bytes, cap(r.Stdout.Kept))
	}
}

// Row 41: a program that ignores TERM is killed after the grace, and its time is
// told, never a success. One that heeds it may clean up.
func TestTimeout_Row41(t *testing.T) {
	t.Parallel()
	ignores := sh(t, `trap "" TERM; echo ready; while :; do sleep 10; done`)
	ignores.Timeout = 200 * time.Millisecond
	if r := run(t, ignores); r.End != command.TimedOut || r.Verdict() != command.Failed || r.Unkillable || r.Duration < 400*time.Millisecond {
		t.Errorf("ignores TERM: %v, %v", r, r.Duration)
	}
	heeds := sh(t, `trap "echo cleaned; exit 0" TERM; while :; do sleep 0.01; done`)
	heeds.Timeout, heeds.KillGrace = 200*time.Millisecond, time.Minute
	if r := run(t, heeds); r.End != command.TimedOut || r.Verdict() != command.Failed || string(r.Stdout.Kept) != "cleaned\n" {
		t.Errorf("heeds TERM: %v, %q", r, r.Stdout.Kept)
	}
}

func TestContextEndsAProgram(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("no more of this")
	c := sh(t, `while :; do sleep 10; done`)
	c.Started = func(command.Process) error { cancel(why); return nil }
	r := command.Run(ctx, c)
	if r.End != command.Canceled || !errors.Is(r.Err, why) || r.Verdict() != command.Failed {
		t.Errorf("%v: %v", r, r.Err)
	}
	if r := command.Run(ctx, c); r.End != command.Canceled || r.Duration != 0 {
		t.Errorf("with a context that is over: %v after %v", r.End, r.Duration)
	}
}

func TestLogTakesBothStreams(t *testing.T) {
	t.Parallel()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := sh(t, "echo out; echo err >&2")
	c.Log = log
	r := run(t, c)
	raw, err := os.ReadFile(log.Name())
	if err != nil || string(raw) != "out\nerr\n" || r.Stdout.Bytes != 0 {
		t.Errorf("%q, %v; %+v", raw, err, r.Stdout)
	}
}

// The caller knows the process before the program runs, and can keep it from
// running: then it left no trace.
func TestStartedComesFirst(t *testing.T) {
	t.Parallel()
	c := sh(t, "touch trace; echo $$")
	trace := filepath.Join(c.Dir, "trace")
	var who command.Process
	c.Started = func(p command.Process) error {
		who = p
		if _, err := os.Stat(trace); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the program ran before")
		}
		if !p.Lives() {
			t.Error("nobody lives")
		}
		return nil
	}
	r := run(t, c)
	if got := strings.TrimSpace(string(r.Stdout.Kept)); got != strconv.Itoa(who.PID) || r.Verdict() != command.Allow {
		t.Errorf("process %q, told of %+v; %v", got, who, r)
	}
	if who.Lives() {
		t.Error("it lives after its end")
	}

	no := errors.New("could not be written down")
	c = sh(t, "touch trace")
	c.Started = func(command.Process) error { return no }
	if r := run(t, c); r.End != command.NotStarted || !errors.Is(r.Err, no) {
		t.Errorf("%v: %v", r.End, r.Err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "trace")); err == nil {
		t.Error("the program ran although it was kept back")
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
