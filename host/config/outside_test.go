package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link inside the project is followed, one that leads out is refused by name.
func TestCheckInside_P5(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	if err := errors.Join(os.Mkdir(at("real"), 0o755), os.WriteFile(filepath.Join(outside, "x"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"in": "real", "out": outside, "real/out": "../out"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(root, alias); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{root, alias} {
		c := &Config{Root: from}
		for name, bad := range map[string]bool{"real": false, "in": false, "none": false, ".": false, "out": true, "out/x": true, "in/out/x": true} {
			err := c.CheckInside(filepath.Join(from, name))
			var out *OutsideError
			if bad != errors.As(err, &out) || !bad && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := c.CheckInside(filepath.Join(outside, "x")); err != nil {
			t.Errorf("a path that is not below the root: %v", err)
		}
	}
}

// The folder of the missions is below the root, also by its links: lane logs are
// written there.
func TestSpecsDirThatLeadsOut(t *testing.T) {
	root := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(root, FileName), []byte("schema = 1\n"), 0o644), os.Mkdir(filepath.Join(root, "docs"), 0o755)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "kitty-specs")
	for target, bad := range map[string]bool{"docs": false, t.TempDir(): true} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		_, err := Load(root)
		var invalid *InvalidError
		if bad != errors.As(err, &invalid) || bad && !strings.Contains(err.Error(), "runtime.specs_dir: "+link+" leads out of the project") {
			t.Errorf("to %s: %v", target, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}
