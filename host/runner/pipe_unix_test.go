//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a program that a loop runs, of its own or declared, is named
// and never waited for.
func TestLoopWaitsForNoPipe(t *testing.T) {
	for _, name := range []string{"check.sh", "loops/update.sh"} {
		root := loopProject(t, nil)
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o755)); err != nil {
			t.Skip("no pipes here:", err)
		}
		p, said := open(t, root), make(chan error, 1)
		go func() {
			_, err := p.CheckLoops("")
			said <- err
		}()
		select {
		case err := <-said:
			if err == nil || !strings.Contains(err.Error(), "named pipe") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it waits for a writer", name)
		}
	}
}
