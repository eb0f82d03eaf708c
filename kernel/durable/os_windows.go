package durable

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// openPlain opens no link, as far as a look before the open can tell.
func openPlain(path string, flag int, perm os.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
	}
	return os.OpenFile(path, flag, perm)
}

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
