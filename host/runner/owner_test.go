package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// Two clones whose configuration names one absolute state folder: the second is
// refused, whatever it asks, and nothing of the first changes. One that was moved is
// told how it is let in.
func TestOneStateOfTwoProjects_Case14(t *testing.T) {
	state := filepath.ToSlash(filepath.Join(t.TempDir(), "state"))
	toml := "[runtime]\ndir = '" + state + "'\n" + linear
	first, second := makeProject(t, toml, nil), makeProject(t, toml, nil)
	wantStep(t, must(t, open(t, first), report("a", cursor.Success)), "A")
	refused := new(Error)
	for name, steer := range map[string]bool{"open": false, "to steer": true} {
		if _, err := Open(Options{Root: second, ToSteer: steer}); !errors.As(err, &refused) || refused.Code != CodeDefinitionInvalid ||
			!strings.Contains(refused.Message, open(t, first).Config.Root) || !strings.Contains(refused.NextStep, "[runtime] dir") {
			t.Fatalf("%s: %v", name, err)
		}
	}
	wantStep(t, must(t, open(t, first), report("a", cursor.Success)), "B")

	moved := filepath.Join(filepath.Dir(first), "moved")
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Root: moved}); !errors.As(err, &refused) || !strings.Contains(refused.NextStep, "owner.json") || !strings.Contains(refused.NextStep, filepath.Base(moved)) {
		t.Fatalf("moved: %v", err)
	}
	write(t, filepath.FromSlash(state+"/owner.json"), strings.Replace(read(t, filepath.FromSlash(state+"/owner.json")), filepath.ToSlash(first), filepath.ToSlash(moved), 1))
	wantStep(t, must(t, open(t, moved), report("a", cursor.Success)), "C")
}
