package durable

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// A rename over a file that somebody has open fails on Windows, and readers
// and virus scanners have files open for moments. So it is tried again for a
// bounded time; a file that stays open is the caller's error.
const (
	renameTries = 10
	renamePause = 5 * time.Millisecond
)

// noWait is nothing where a folder cannot hold a named pipe.
const noWait = 0

const (
	errorAccessDenied     = syscall.Errno(5)
	errorSharingViolation = syscall.Errno(32)
)

func rename(oldpath, newpath string) error {
	var err error
	for range renameTries {
		err = os.Rename(oldpath, newpath)
		if !errors.Is(err, errorAccessDenied) && !errors.Is(err, errorSharingViolation) {
			return err
		}
		time.Sleep(renamePause)
	}
	return err
}

// syncDir does nothing: Windows has no such call, NTFS journals its entries.
func syncDir(string) error { return nil }

// lives tells whether a process is there.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
