package durable

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// noWait is nothing where a folder cannot hold a named pipe.
const noWait = 0

const (
	errorAccessDenied     = syscall.Errno(5)
	errorSharingViolation = syscall.Errno(32)
)

func rename(oldpath, newpath string) error {
	passing := func(err error) bool {
		return errors.Is(err, errorAccessDenied) || errors.Is(err, errorSharingViolation)
	}
	return again(func() error { return os.Rename(oldpath, newpath) }, passing, time.Sleep)
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
