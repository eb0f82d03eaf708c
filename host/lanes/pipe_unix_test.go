//go:build unix

package lanes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/lanes"
)

// A pipe in the place of any folder or file that is read is named and never waited
// for.
func TestPipesAreNotWaitedFor(t *testing.T) {
	for name, look := range map[string]func(dir string) error{
		"m/tasks":            func(dir string) error { return second(lanes.NewReader(filepath.Join(dir, "m")).Packages()) },
		"m/tasks/WP01.md":    func(dir string) error { return second(lanes.NewReader(filepath.Join(dir, "m")).Packages()) },
		"m/" + lanes.LogFile: func(dir string) error { return second(lanes.NewLogReader(filepath.Join(dir, "m")).Read()) },
		"m/lanes.json": func(dir string) error {
			return second(lanes.Workspaces(dir, lanes.Mission{Slug: "m", Dir: filepath.Join(dir, "m")}))
		},
		"m/meta.json": func(dir string) error { return second(lanes.Resolve(dir, "m")) },
		"m":           func(dir string) error { return second(lanes.Load(dir, "m")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pipe := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(pipe), 0o755), syscall.Mkfifo(pipe, 0o644)); err != nil {
				t.Skip("no pipes here:", err)
			}
			said := make(chan error, 1)
			go func() { said <- look(dir) }()
			select {
			case err := <-said:
				if err == nil || !strings.Contains(err.Error(), "named pipe") {
					t.Errorf("%v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for a writer")
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }
