package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A configuration of which nothing can be read is an invalid one for every reader:
// nobody meets a fault of the program, and who only steers knows where the state lies.
func TestConfigurationOfWhichNothingIsRead(t *testing.T) {
	for what, make := range map[string]func(file string) error{
		"is larger than 1MiB": func(file string) error {
			return os.WriteFile(file, []byte("schema = 1\n"+strings.Repeat("#", 1<<20)), 0o644)
		},
		"is a folder": func(file string) error { return os.Mkdir(file, 0o755) },
		"is a device": func(file string) error { return os.Symlink(os.DevNull, file) },
	} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			if err := make(filepath.Join(root, FileName)); err != nil {
				t.Skip(err)
			}
			_, _, all := Validate(root)
			_, unpinned := LoadUnpinned(root)
			cfg, usable := LoadUsable(root)
			for _, err := range []error{all, unpinned, usable} {
				if !errors.As(err, new(*InvalidError)) || !strings.Contains(err.Error(), what) {
					t.Errorf("%v", err)
				}
			}
			if got, want := cfg.Steering().StateRoot(), filepath.Join(root, ".kittify", "step-runner"); got != want {
				t.Errorf("the state root is %s, want %s", got, want)
			}
		})
	}
}
