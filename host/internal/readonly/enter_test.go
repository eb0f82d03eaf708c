package readonly_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// Folders are entered, links are not, also those that stay inside.
func TestEnter(t *testing.T) {
	dir, root := folder(t)
	for _, name := range []string{"a/b/c", "elsewhere/c"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out": t.TempDir(), "in": "a", "a/up": "../elsewhere", "nowhere": "none"} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{
		"a": "", "a/b/c": "", "a/./b": "",
		"out": "out", "in/b": "in", "a/up/c": "a/up", "a/up": "a/up", "nowhere": "nowhere", "a/file": "a/file",
	} {
		got, err := readonly.Enter(root, name)
		var not *readonly.NotStraightError
		switch {
		case at == "" && err != nil, at != "" && (!errors.As(err, &not) || not.At != at):
			t.Errorf("%s: %v, want it to stop at %q", name, err, at)
		case err == nil:
			got.Close()
		}
	}
	if _, err := readonly.Enter(root, "a/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if got, err := readonly.Enter(root, "../x"); err == nil {
		got.Close()
		t.Error("dots led out")
	}
}
