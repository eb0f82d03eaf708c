package locks

import (
	"errors"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// mode of a lock file that is made: whoever may not lock need not open it.
const mode = 0o600

// fileGates is shared by all file locks of the process, see gates.
var fileGates gates

// At is the lock on the file at path. The file is made by the first Do, its
// folder never. Links on the way to its folder are followed, so the same file
// reached by two paths is the same lock; what lies at path itself and is no file,
// a link too, is a *BadLockError.
func At(path string) *Lock {
	return &Lock{
		path:  path,
		gates: &fileGates,
		file: func() handle {
			return &file{path: path, f: flock.New(path, flock.SetPermissions(mode), flock.SetFlag(openFlags))}
		},
	}
}

type file struct {
	path string
	f    *flock.Flock
}

func (h *file) try() (bool, error) {
	if err := h.look(); err != nil {
		return false, err
	}
	for {
		got, err := h.f.TryLock()
		if !errors.Is(err, syscall.EINTR) {
			return got, h.checked(got, err)
		}
	}
}

// lock opens the file anew: the library closes it after a try that failed.
func (h *file) lock() error {
	for {
		err := h.f.Lock()
		if !errors.Is(err, syscall.EINTR) {
			return h.checked(err == nil, err)
		}
	}
}

// look refuses before the open what is no file. An open that follows no link and
// waits for no pipe (openFlags) and the look at what is locked (checked) stand
// behind it against whoever changes it meanwhile.
func (h *file) look() error {
	info, err := os.Lstat(h.path)
	if err == nil && !info.Mode().IsRegular() {
		return &BadLockError{Path: h.path, Mode: info.Mode()}
	}
	return nil // there is none yet, or the open says why it cannot be had
}

// checked gives back a lock on what is no file.
func (h *file) checked(got bool, err error) error {
	if err != nil {
		if bad := h.look(); bad != nil {
			return bad
		}
	}
	if err != nil || !got {
		return err
	}
	info, err := h.f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &BadLockError{Path: h.path, Mode: info.Mode()}
	}
	if err != nil {
		return errors.Join(err, h.f.Unlock())
	}
	return nil
}

func (h *file) unlock() error { return h.f.Unlock() }

func (h *file) key() any {
	info, err := h.f.Stat()
	if err != nil {
		return h.path
	}
	return identity(h.path, info)
}

func (h *file) same() error {
	held, err := h.f.Stat()
	if err != nil {
		return &ReplacedError{Path: h.path, Err: err}
	}
	there, err := os.Lstat(h.path)
	if err != nil {
		return &ReplacedError{Path: h.path, Err: err}
	}
	if !os.SameFile(held, there) {
		return &ReplacedError{Path: h.path}
	}
	return nil
}
