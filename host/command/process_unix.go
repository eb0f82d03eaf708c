//go:build unix

package command

import (
	"os"
	"syscall"
)

// needed are variables without which programs do not start on this system.
func needed() []string { return nil }

func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func signalOf(s *os.ProcessState) (string, bool) {
	status, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	return status.Signal().String(), true
}

// ownGroup puts a process at the head of a group, or of a session.
func ownGroup(session bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !session, Setsid: session}
}
