//go:build unix

package proc

import (
	"os"
	"syscall"
)

// KillGroup ends a process that leads a group, and all of the group.
func KillGroup(p *os.Process) {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil {
		_ = p.Kill()
	}
}
