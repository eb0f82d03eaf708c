//go:build unix

package runner

import (
	"errors"

	"golang.org/x/sys/unix"
)

// mayWrite is why this process may not write to a file, or in a folder, that is
// there. It asks the system and opens nothing.
func mayWrite(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

// isReadOnly tells a file system that is mounted for reading alone.
func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }
