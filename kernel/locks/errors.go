package locks

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// TimeoutError says that the lock could not be had in time. The work did not
// run and will not.
type TimeoutError struct {
	Path string
	Wait time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("lock %s: still held by another after %s; end that process or wait, never delete the file", e.Path, e.Wait)
}

// ReplacedError says that the locked file is no longer the one at its path, so
// that another process may hold "the same" lock.
type ReplacedError struct {
	Path string
	Err  error // what looking at the path gave; nil where another file lies there
}

func (e *ReplacedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("lock %s: gone while it was held: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("lock %s: another file took its place while it was held", e.Path)
}

func (e *ReplacedError) Unwrap() error { return e.Err }

// BadLockError says that something lies at the lock's path that is no file: a
// link, a folder, a pipe. It was not opened, or let go at once, and the work did
// not run.
type BadLockError struct {
	Path string
	Mode fs.FileMode
}

func (e *BadLockError) Error() string {
	return fmt.Sprintf("lock %s: it is %s, not a file; remove it, the lock is made anew", e.Path, e.Kind())
}

// Kind names what is there, with its article.
func (e *BadLockError) Kind() string { return durable.What(e.Mode) }

// UnlockError says that the work is done, with its own result, and that the
// lock could not be given back. It ends with the process at the latest.
type UnlockError struct {
	Path string
	Err  error
}

func (e *UnlockError) Error() string {
	return fmt.Sprintf("lock %s: cannot be released before this process ends: %v", e.Path, e.Err)
}

func (e *UnlockError) Unwrap() error { return e.Err }
