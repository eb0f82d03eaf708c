package sandbox

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
)

const parentVar = "SANDBOX_TEST_PARENT"

// hang is a job of the guest that nothing but a kill ends.
func hang(t *testing.T) (job, [][]byte) {
	t.Helper()
	p := plugin(t, "fib")
	p.Limits, _ = p.Limits.filled()
	j, input, err := callJob(p, guardCall())
	if err != nil {
		t.Fatal(err)
	}
	j.Mode = interpret
	return j, input
}

// hangForever is the parent that TestChildDiesWithItsParent kills: it starts a
// child that never ends, writes its id and waits.
func hangForever() {
	wasm, err := os.ReadFile("testdata/fib.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := Plugin{Name: "fib", Wasm: wasm, SHA256: hexSum(wasm), Limits: Limits{Timeout: time.Minute}}
	p.Limits, _ = p.Limits.filled()
	j, input, _ := callJob(p, guardCall())
	j.Mode = compile
	c, err := launch("/proc/self/exe", j)
	if err != nil {
		fmt.Println(err)
		return
	}
	talk := &talk{process: c, job: j, ready: make(chan struct{}), full: make(chan Code, 2)}
	talk.readers.Add(1)
	go talk.readFrames()
	talk.feed(input)
	<-talk.ready
	fmt.Println(c.proc.Pid)
	<-c.exited
}

func TestChildDiesWithItsParent(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), parentVar+"=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	await(t, "the child's end", func() bool { return !alive(child) })
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// await polls for a condition that must come true.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long for ", what)
		}
	}
}

// P2, P5: the child has none of our descriptors, no environment, its own
// process group and its limits; after a kill nothing of it is left.
func TestChildIsConfined(t *testing.T) {
	t.Setenv("SECRET", "1")
	secret := filepath.Join(t.TempDir(), "lock")
	must(t, os.WriteFile(secret, nil, 0o600))
	leak, err := unix.Open(secret, unix.O_RDWR, 0) // not close-on-exec
	must(t, err)
	defer unix.Close(leak)
	j, input := hang(t)
	c, err := launch("/proc/self/exe", j)
	must(t, err)
	defer func() {
		c.kill()
		<-c.exited
		c.closePipes()
		if alive(c.proc.Pid) {
			t.Error("the child is still there")
		}
	}()
	talk := &talk{process: c, job: j, ready: make(chan struct{}), full: make(chan Code, 2)}
	talk.readers.Add(1)
	go talk.readFrames()
	talk.feed(input)
	<-talk.ready

	at := func(name string) string { return fmt.Sprintf("/proc/%d/%s", c.proc.Pid, name) }
	fds, err := os.ReadDir(at("fd"))
	must(t, err)
	for _, fd := range fds {
		target, err := os.Readlink(at("fd/" + fd.Name()))
		if err == nil && strings.HasPrefix(target, filepath.Dir(secret)) {
			t.Errorf("descriptor %s of the child is %s", fd.Name(), target)
		}
	}
	if env, err := os.ReadFile(at("environ")); err != nil || strings.TrimRight(string(env), "\x00") != strings.Join(raceEnv(), "") {
		t.Errorf("environment %q, %v", env, err)
	}
	if group, err := unix.Getpgid(c.proc.Pid); err != nil || group != c.proc.Pid {
		t.Errorf("process group %d of %d, %v", group, c.proc.Pid, err)
	}
	limits, err := os.ReadFile(at("limits"))
	must(t, err)
	for _, want := range []string{
		fmt.Sprintf("Max data size             %d", dataLimit(j.Limits.Memory)),
		"Max file size             0",
		"Max core file size        0",
	} {
		if !strings.Contains(string(limits), want) {
			t.Errorf("limits do not hold %q:\n%s", want, limits)
		}
	}
	// The address space: what the child had when it set the limit, which was no more
	// than it has now, and as much again as the data.
	most := statusOf(t, c.proc.Pid, "status", "VmSize:")<<10 + dataLimit(j.Limits.Memory)
	if got := statusOf(t, c.proc.Pid, "limits", "Max address space"); got > most {
		t.Errorf("address space of at most %d bytes, want at most %d", got, most)
	}
}

// statusOf is the number behind a word in one of a process's files in /proc.
func statusOf(t *testing.T, pid int, file, word string) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	must(t, err)
	_, rest, _ := strings.Cut(string(raw), word)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("%s has no %q:\n%s", file, word, raw)
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatalf("%s %s is no number: %v", word, fields[0], err) // "unlimited"
	}
	return n
}

// The filler has the lowest priority in all its threads and outlives nobody by
// more than a minute.
func TestFillerStepsBack(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", childWord, "67108864", string(fill)+backgroundMark)
	cmd.SysProcAttr = childAttr(true)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	await(t, "nice 19 in all threads", func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", cmd.Process.Pid))
		nice := 0
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task))
			if prio, err := unix.Getpriority(unix.PRIO_PROCESS, tid); err == nil && 20-prio == 19 {
				nice++
			}
		}
		return nice > 0 && nice == len(tasks)
	})
	must(t, in.Close()) // no job: it ends by itself
	if err := cmd.Wait(); err == nil {
		t.Error("a child without a job reports success")
	}
}

// A child that has lost its senses is held by the parent's own caps.
func TestParentCapsAgain(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   Code
	}{
		"stdout": {"exec cat /dev/zero", OutputLimit},
		"stderr": {"exec cat /dev/zero >&2", LogLimit},
		"silent": {"exit 0", ChildFailed},
		"exit":   {"exit 7", ChildFailed},
		"signal": {"kill -9 $$", ChildFailed},
		"lie":    {`printf 'D\002\000\000\000{}more'; exec cat /dev/zero`, OutputLimit},
		"hang":   {"exec sleep 60", TimeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "child")
			must(t, os.WriteFile(exe, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700))
			p := plugin(t, "allow")
			p.Limits.Timeout, p.Limits.CompileTime = 500*time.Millisecond, 500*time.Millisecond
			begun := time.Now()
			_, err := New(Options{CacheDir: "-", Exe: exe}).Call(bounded(t), p, guardCall())
			if c.code == TimeLimit { // interpreted, then compiled
				c.code = CompileLimit
			}
			if f := mustFail(t, err, c.code); name == "silent" && !strings.Contains(f.Detail, "without a whole report") {
				t.Error(f)
			}
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestRefusesToStartWithoutDispatch(t *testing.T) {
	registered.Store(false)
	defer registered.Store(true)
	_, err := New(Options{CacheDir: "-"}).Call(context.Background(), plugin(t, "allow"), guardCall())
	if f := mustFail(t, err, ChildFailed); !strings.Contains(f.Detail, "ChildMain") {
		t.Error(f)
	}
}
