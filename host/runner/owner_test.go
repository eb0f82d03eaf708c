package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// Worktrees of a bare repository have no main one whose runs are meant: a call that
// names none is refused in each of them, and --root chooses, the same from both.
func TestWorktreesOfABareRepository(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	write(t, at("r.git/config"), "[core]\n\tbare = true\n")
	for _, w := range []string{"w1", "w2"} {
		if err := os.Rename(makeProject(t, linear, nil), at(w)); err != nil {
			t.Fatal(err)
		}
		write(t, at(w+"/.git"), "gitdir: "+at("r.git/worktrees/"+w)+"\n")
		write(t, at("r.git/worktrees/"+w+"/commondir"), "../..\n")
		write(t, at("r.git/worktrees/"+w+"/gitdir"), at(w+"/.git")+"\n")
	}
	for _, w := range []string{"w1", "w2"} {
		t.Chdir(at(w))
		refused := new(Error)
		if _, err := Open(Options{}); !errors.As(err, &refused) || refused.Code != CodeAmbiguous || !slices.Equal(refused.Candidates, []string{at("w1"), at("w2")}) || !strings.Contains(refused.NextStep, "--root") {
			t.Fatalf("from %s: %v", w, err)
		}
		a, err := open(t, at("w1")).Next(t.Context(), report(w, cursor.Success))
		if err != nil {
			t.Fatal(err)
		}
		if w == "w1" {
			wantStep(t, a, "A")
		} else if a.Kind != KindBlocked || value(a.ReasonCode) != string(cursor.NotHolder) {
			t.Fatalf("the step was handed out twice: %+v", a)
		}
	}
	t.Chdir(at("w1"))
	if err := os.RemoveAll(at("w2")); err != nil {
		t.Fatal(err)
	}
	p, err := Open(Options{})
	if err != nil || p.Config.Root != at("w1") {
		t.Fatalf("the only one that is left: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
