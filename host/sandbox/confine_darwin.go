package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hasLifeline: the child ends when its stdin does. A guest that keeps Go's
// scheduler from running outlives a parent that is killed; that is missing here.
const hasLifeline = true

// confine sets what limits this system has. Memory is not among them: RLIMIT_DATA
// does not count mapped memory here, so a bomb is held by the parent's deadline
// and the inner wall alone.
func confine(m mode, _ int64) error {
	limits := []limit{{unix.RLIMIT_NOFILE, maxFiles + 64}, {unix.RLIMIT_CORE, 0}}
	if m == fill {
		limits = append(limits, limit{unix.RLIMIT_CPU, fillCPU})
	}
	return setLimits(limits)
}

func stepBack() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }

func childAttr(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
