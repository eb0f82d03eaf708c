//go:build unix

package command

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// watchWord is the first argument of a process that watches over a program for a
// caller that may die.
const watchWord = "spec-kitty-command-watch"

const lifelineFD = 3 // it ends with the caller

// watcher is such a process. Once it was told of the program's group it ends that
// group when its caller dies: by SIGKILL, too, which leaves the caller no time to. The
// caller ends the watcher when nothing of the group is left.
type watcher struct {
	proc     *os.Process
	lifeline *os.File
}

// watch starts a watcher where the command wants one; nil where it wants none.
func watch(c Command) (*watcher, error) {
	if !c.Watched {
		return nil, nil
	}
	if !registered.Load() {
		return nil, errors.New("this program does not call command.Main, so nobody can watch over a program for it")
	}
	exe, err := self()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	theirs, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	keepInherited()
	// In a group of its own, so that what is sent to the caller's whole group does
	// not reach it.
	child, err := os.StartProcess(exe, []string{"spec-kitty", watchWord}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null, theirs}, Sys: ownGroup(false),
	})
	if err != nil {
		_ = lifeline.Close()
		return nil, err
	}
	return &watcher{proc: child, lifeline: lifeline}, nil
}

// over is the command with its watcher told of its group before the program runs: a
// caller that dies before has begun nothing.
func (w *watcher) over(c Command) Command {
	if w == nil {
		return c
	}
	asked := c.Started
	c.Started = func(p Process) error {
		if _, err := fmt.Fprintln(w.lifeline, p.PID, int64(c.KillGrace)); err != nil || asked == nil {
			return err
		}
		return asked(p)
	}
	return c
}

// end ends the watcher, not what it watches over.
func (w *watcher) end() {
	if w == nil {
		return
	}
	_ = w.proc.Kill()
	_, _ = w.proc.Wait()
	_ = w.lifeline.Close()
}

// watched waits for the caller's end, which is that of the lifeline, and then ends the
// group as the caller would have. The id is no stranger's: it is the group's while any
// of its processes is there, and was when the caller died.
func watched() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	lifeline := os.NewFile(lifelineFD, "lifeline")
	var group int
	var grace int64
	if _, err := fmt.Fscanln(lifeline, &group, &grace); err != nil || group <= 1 {
		return 1
	}
	_, _ = lifeline.Read(make([]byte, 1))
	_ = syscall.Kill(-group, syscall.SIGTERM)
	for end := time.Now().Add(time.Duration(grace)); GroupLives(group) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if _, left := EndGroup(group); left {
		return 1
	}
	return 0
}
