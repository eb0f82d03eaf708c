//go:build unix

package readonly_test

import (
	"errors"
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
