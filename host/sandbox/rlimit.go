//go:build linux || darwin

package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// fillCPU is the filler's processor time in seconds, on all cores: more than
// its minute can take, unless it has many.
const fillCPU = 300

type limit struct {
	what int
	most uint64
}

func setLimits(limits []limit) error {
	for _, l := range limits {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return os.NewSyscallError("setrlimit "+strconv.Itoa(l.what), err)
		}
	}
	return nil
}
