package command

import (
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

func attributes(session bool) *syscall.SysProcAttr {
	attr := ownGroup(session)
	if !session {
		attr.Pdeathsig = syscall.SIGTERM
	}
	return attr
}

// EndGroup kills what is left of a group and waits, a few seconds, until it is
// gone. It is for a group that is known to be the caller's: its leader was not
// reaped yet, or is proven by its identity. killed is how many processes it
// found; left tells that some did not go.
func EndGroup(group int) (killed int, left bool) {
	for deadline := time.Now().Add(unkillable); ; time.Sleep(time.Millisecond) {
		there := len(proc.Group(group))
		if there == 0 {
			return killed, false
		}
		killed = max(killed, there)
		// Again each time: what was being forked while the first went round is in
		// the group too.
		_ = syscall.Kill(-group, syscall.SIGKILL)
		if time.Now().After(deadline) {
			return killed, true
		}
	}
}

// GroupLives tells whether any process of a group has not ended.
func GroupLives(group int) bool { return len(proc.Group(group)) > 0 }

// Identify gives the identity of a process that has not ended.
func Identify(pid int) (Process, error) {
	stat := proc.Stat(pid)
	if !proc.Live(stat) {
		return Process{}, os.ErrProcessDone
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, err
	}
	return Process{PID: pid, Start: stat[proc.Start], Boot: strings.TrimSpace(string(boot))}, nil
}

// keepInherited keeps descriptors that came with this program from going on to
// those it starts; Go's own never do. An older kernel cannot, and then they do.
func keepInherited() { _ = unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC) }

// self is the path of this very program, also where its file was replaced.
func self() (string, error) { return "/proc/self/exe", nil }
