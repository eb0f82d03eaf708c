//go:build unix

package artifact

import (
	"os"
	"syscall"
)

// noWait keeps the open of a named pipe from waiting for its other end.
const noWait = syscall.O_NONBLOCK

func syncFolder(f *os.File) error { return f.Sync() }
