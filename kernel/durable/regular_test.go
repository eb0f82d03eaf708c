package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// notRegular opens path in the ways that the store does.
func notRegular(t *testing.T, d durable.Disk, path string) {
	t.Helper()
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
		f, err := d.OpenFile(path, flag, 0)
		var not *durable.NotRegularError
		if !errors.As(err, &not) || not.Path != path {
			t.Errorf("open %s with %#x: %v, %v", path, flag, f, err)
		}
	}
	if _, err := durable.ReadFile(d, path, 100); !errors.As(err, new(*durable.NotRegularError)) {
		t.Errorf("read %s: %v", path, err)
	}
}

func TestFolderIsNoFile(t *testing.T) {
	disks(t, func(t *testing.T, d durable.Disk, dir string) {
		path := filepath.Join(dir, "x")
		must(t, d.Mkdir(path, 0o755))
		notRegular(t, d, path)
	})
}
