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
// folder never. Links on the way are followed, so the same file reached by two
// paths is the same lock.
func At(path string) *Lock {
	return &Lock{
		path:  path,
		gates: &fileGates,
		file: func() handle {
			return &file{path: path, f: flock.New(path, flock.SetPermissions(mode))}
		},
	}
}

type file struct {
	path string
	f    *flock.Flock
}

func (h *file) try() (bool, error) {
	for {
		got, err := h.f.TryLock()
		if !errors.Is(err, syscall.EINTR) {
			return got, err
		}
	}
}

// lock opens the file anew: the library closes it after a try that failed.
func (h *file) lock() error {
	for {
		if err := h.f.Lock(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
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
	there, err := os.Stat(h.path)
	if err != nil {
		return &ReplacedError{Path: h.path, Err: err}
	}
	if !os.SameFile(held, there) {
		return &ReplacedError{Path: h.path}
	}
	return nil
}
