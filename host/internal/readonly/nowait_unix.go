//go:build unix

package readonly

import "syscall"

// NoWait is a flag of an open that keeps that of a named pipe from waiting for its
// other end.
const NoWait = syscall.O_NONBLOCK
