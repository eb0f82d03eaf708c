//go:build !windows

package durable

import (
	"errors"
	"os"
	"syscall"
)

// noWait keeps the open of a named pipe from waiting for its other end, and
// the open of a terminal from making it ours.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// openPlain opens no link: O_NOFOLLOW decides in the open itself, so that nobody
// can put one there between a look and the open.
func openPlain(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|noWait|syscall.O_NOFOLLOW, perm)
}

func rename(oldpath, newpath string) error { return os.Rename(oldpath, newpath) }

func syncDir(path string) error {
	dir, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		dir.Close()
		return err
	}
	return dir.Close()
}

// lives tells whether a process is there.
func lives(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
