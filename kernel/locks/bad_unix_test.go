//go:build unix

package locks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Row 30: a link, a folder or a pipe in the lock's place is refused at once,
// however long the caller would wait; nothing is made where a link leads.
func TestBadLock_Row30(t *testing.T) {
	kinds := map[string]func(path string) error{
		"a link": func(path string) error { return os.Symlink("target", path) },
		"a link to a file": func(path string) error {
			return errors.Join(os.WriteFile(path+".file", nil, 0o600), os.Symlink(filepath.Base(path)+".file", path))
		},
		"a folder":     func(path string) error { return os.Mkdir(path, 0o755) },
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	}
	for kind, put := range kinds {
		for _, wait := range []time.Duration{0, long} {
			t.Run(kind+"/"+wait.String(), func(t *testing.T) {
				path := lockPath(t)
				if err := put(path); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), long)
				defer cancel()
				err := locks.At(path).Do(ctx, wait, func(*locks.Held) error { return errors.New("the work ran") })
				var bad *locks.BadLockError
				if !errors.As(err, &bad) || bad.Path != path {
					t.Errorf("%v", err)
				}
				if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "target")); err == nil {
					t.Error("a file was made where the link leads")
				}
			})
		}
	}
}

// Row 30: a lock file whose place a link takes while it is held is not the lock
// any more, even if it leads to the file that is held.
func TestLinkUnderTheLock_Row30(t *testing.T) {
	path := lockPath(t)
	err := locks.At(path).Do(t.Context(), 0, func(h *locks.Held) error {
		return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path), h.Same())
	})
	if !errors.As(err, new(*locks.ReplacedError)) {
		t.Errorf("%v", err)
	}
}
