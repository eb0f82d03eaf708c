//go:build unix

package readonly_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// A pipe without a writer would hold an open for ever.
func TestFileDoesNotWaitForAPipe(t *testing.T) {
	dir, root := folder(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Skip("no pipes here:", err)
	}
	_, _, err := readonly.File(root, "pipe.md", limit)
	var not *readonly.NotRegularError
	if !errors.As(err, &not) {
		t.Errorf("%v, want that it is a pipe", err)
	}
}

// Path keeps the same promises of a path that may lead anywhere.
func TestPathDoesNotWaitForAPipe(t *testing.T) {
	dir, _ := folder(t)
	pipe, long, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "long"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip("no pipes here:", err)
	}
	if _, _, err := readonly.Path(pipe, limit); !errors.As(err, new(*readonly.NotRegularError)) {
		t.Errorf("%v, want that it is a pipe", err)
	}
	if err := errors.Join(os.WriteFile(long, make([]byte, limit+1), 0o644), os.Symlink(long, link)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readonly.Path(link, limit); !errors.As(err, new(*readonly.TooLargeError)) {
		t.Errorf("%v, want that it is too large", err)
	}
	if data, _, err := readonly.Path(link, limit+1); err != nil || len(data) != limit+1 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
