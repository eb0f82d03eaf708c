//go:build !unix

package command

import (
	"os"
	"syscall"
)

// needed are variables without which programs do not start on this system.
func needed() []string { return []string{"SYSTEMROOT"} }

// Groups are not to be had here: what a program starts is not ended with it.

func attributes(bool) *syscall.SysProcAttr { return nil }

// EndGroup finds nothing.
func EndGroup(int) (killed int, left bool) { return 0, false }

// GroupLives knows of no group.
func GroupLives(int) bool { return false }

func terminateGroup(p *os.Process) { _ = p.Kill() }

func signalOf(*os.ProcessState) (string, bool) { return "", false }

// Identify gives what is known here of a process: that it is there.
func Identify(pid int) (Process, error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return Process{}, os.ErrProcessDone
	}
	_ = p.Release()
	return Process{PID: pid}, nil
}

// Main does nothing here: programs are not held back.
func Main() {}

// watcher is none: without groups there is nothing to watch over.
type watcher struct{}

func watch(Command) (*watcher, error)   { return nil, nil }
func (*watcher) over(c Command) Command { return c }
func (*watcher) end()                   {}

// startHeld starts the program and tells the caller just after.
func startHeld(c Command, program string, files []*os.File) (*os.Process, error) {
	proc, err := os.StartProcess(program, c.Argv, &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files})
	if err != nil || c.Started == nil {
		return proc, err
	}
	if err := c.Started(Process{PID: proc.Pid}); err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		return nil, err
	}
	return proc, nil
}
