package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when the process has ended, without reaping it, and
// tells whether it did so.
func awaitEnd(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
