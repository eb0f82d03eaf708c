//go:build unix && !linux

package command

import (
	"os"
	"syscall"
	"time"
)

func attributes(session bool) *syscall.SysProcAttr { return ownGroup(session) }

// EndGroup kills what is left of a group and waits, a few seconds, until it is
// gone. It is for a group that is known to be the caller's. killed is -1 where
// it found processes, how many is not known; left tells that some did not go.
func EndGroup(group int) (killed int, left bool) {
	for deadline := time.Now().Add(unkillable); ; time.Sleep(time.Millisecond) {
		if syscall.Kill(-group, syscall.SIGKILL) != nil {
			return killed, false
		}
		killed = -1
		if time.Now().After(deadline) {
			return killed, true
		}
	}
}

// GroupLives tells whether there is any process of a group.
func GroupLives(group int) bool { return syscall.Kill(-group, 0) == nil }

// Identify gives what is known here of a process: that it is there.
func Identify(pid int) (Process, error) {
	if err := syscall.Kill(pid, 0); err != nil {
		return Process{}, os.ErrProcessDone
	}
	return Process{PID: pid}, nil
}

// keepInherited does nothing: there is no such call here.
func keepInherited() {}

// self is the path of this program.
func self() (string, error) { return os.Executable() }
