//go:build unix

package readonly

import "syscall"

// noWait keeps the open of a named pipe without a writer from waiting for one.
const noWait = syscall.O_NONBLOCK
