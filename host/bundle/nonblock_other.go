//go:build !windows

package bundle

import "syscall"

const openNonblock = syscall.O_NONBLOCK
