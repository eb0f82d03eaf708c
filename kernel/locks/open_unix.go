//go:build unix

package locks

import (
	"os"
	"syscall"
)

// openFlags open for reading, which suffices to lock, follow no link and do not
// wait for the other end of a pipe.
const openFlags = os.O_CREATE | os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
