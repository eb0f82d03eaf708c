//go:build !windows

package sandbox

import "syscall"

func unsafeName(string) bool { return false }

// openNonblock keeps a FIFO that took a file's place from blocking the open.
const openNonblock = syscall.O_NONBLOCK
