package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Calls that change the configuration at once all have their change in it, also where
// a person saves a sentence between the reading and the writing of each.
func TestNoChangeOfTheConfigurationIsLost(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, config.FileName)
	write(t, file, "schema = 1\n")
	cfg, err := config.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			asked := 0
			err := changeConfig(t.Context(), cfg, func(text []byte) ([]byte, error) {
				if asked++; asked == 2 { // under the lock
					write(t, file, string(text)+fmt.Sprintf("# a person's %d\n", i))
				}
				return append(text, fmt.Sprintf("# a call's %d\n", i)...), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text := read(t, file)
	for i := range 8 {
		for _, who := range []string{"a person's", "a call's"} {
			if line := fmt.Sprintf("# %s %d\n", who, i); strings.Count(text, line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(text, line))
			}
		}
	}
}

// A file that is saved each time is left to who saves it, with a word on what to do.
func TestChangeOfAConfigurationThatIsSavedAllTheTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), config.FileName)
	write(t, file, "schema = 1\n")
	err := changeAlone(file, func(text []byte) ([]byte, error) {
		write(t, file, string(text)+"#\n")
		return append(text, "# ours\n"...), nil
	})
	if known := new(Error); !errors.As(err, &known) || known.Code != CodeNotRecorded || known.NextStep == "" {
		t.Errorf("%v", err)
	}
	if text := read(t, file); strings.Contains(text, "ours") || strings.Count(text, "#") != configTries {
		t.Errorf("%q", text)
	}
}

// A pin and an import wait for each other: while another call changes the
// configuration they change nothing, and say so after lock_timeout.
func TestPinAndImportWaitForTheConfiguration(t *testing.T) {
	k, root := kitOf(t, "none")
	file := filepath.Join(root, config.FileName)
	text := strings.Replace(read(t, file), hexSum([]byte(read(t, filepath.Join(root, "faulty.wasm")))), strings.Repeat("0", 64), 1) +
		"[runtime]\nlock_timeout = \"20ms\"\n"
	write(t, file, text)
	write(t, filepath.Join(root, "theirs", "mission-runtime.yaml"), "mission:\n  key: theirs\n  name: Theirs\n  version: \"1\"\nsteps:\n  - id: a\n    title: A\n")
	calls := map[string]func() error{
		"pin": func() error { _, err := k.Pin(context.Background(), "faulty"); return err },
		"import": func() error {
			_, err := ImportMission(context.Background(), ImportRequest{Root: root, Path: filepath.Join(root, "theirs")})
			return err
		},
	}
	cfg, err := config.LoadUnpinned(root)
	if err != nil {
		t.Fatal(err)
	}
	err = configAlone(t.Context(), cfg, func() error {
		for name, call := range calls {
			if err := call(); !errors.As(err, new(*locks.TimeoutError)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if got := read(t, file); err != nil || got != text {
		t.Errorf("%v: %s", err, got)
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := read(t, file); strings.Contains(got, strings.Repeat("0", 64)) || !strings.Contains(got, "[missions.theirs]") {
		t.Error(got)
	}
}
