package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pin keeps the file's mode and the link that leads to it, leaves nothing beside
// it, and does not touch what is right already.
func TestPinReplacesTheFile(t *testing.T) {
	k, root := kitOf(t, "none")
	config, real := filepath.Join(root, "spec-kitty.toml"), filepath.Join(root, "real.toml")
	text := read(t, config)
	write(t, real, strings.Replace(text, hexSum([]byte(read(t, filepath.Join(root, "faulty.wasm")))), strings.Repeat("0", 64), 1))
	for _, err := range []error{os.Chmod(real, 0o666), os.Remove(config), os.Symlink("real.toml", config)} {
		if err != nil {
			t.Skip(err)
		}
	}
	pin, err := k.Pin(context.Background(), "faulty")
	if err != nil || !pin.Changed || value(pin.Before) != strings.Repeat("0", 64) {
		t.Fatalf("%+v, %v", pin, err)
	}
	if read(t, real) != text {
		t.Errorf("%s", read(t, real))
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if link, err := os.Readlink(config); err != nil || link != "real.toml" {
		t.Errorf("the link: %q, %v", link, err)
	}
	names, err := os.ReadDir(root)
	if err != nil || len(names) != 4 { // and the state folder, which the lock lies in
		t.Errorf("%v, %v", names, err)
	}
	before := info.ModTime()
	if pin, err = k.Pin(context.Background(), "faulty"); err != nil || pin.Changed {
		t.Errorf("%+v, %v", pin, err)
	}
	if info, err = os.Stat(real); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("written again: %v", err)
	}
}
