//go:build unix

package readonly

import "syscall"

// NoWait keeps the open of a named pipe without a writer from waiting for one.
const NoWait = syscall.O_NONBLOCK
