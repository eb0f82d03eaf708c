package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/config"
)

// Issue 4 item 1: what is written validates, and wants tokens.
func TestNewProjectIsValid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "project")
	written, err := Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg, defs, err := config.Validate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !cfg.Runtime.RequireToken || defs[MissionType] == nil || len(defs[MissionType].Steps) != 3 {
		t.Errorf("%+v, types %v", cfg.Runtime, cfg.MissionTypes())
	}
	guards := 0
	for _, step := range defs[MissionType].Steps {
		guards += len(step.Guards)
		if step.Prompt == nil || step.Prompt.Path == "" {
			t.Errorf("step %s has no prompt file", step.ID)
		}
	}
	if guards == 0 || written[len(written)-1] != config.FileName {
		t.Errorf("%d guards, written %v", guards, written)
	}
}

// Field case 47: whatever stands in the way, nothing is overwritten and nothing
// is left behind.
func TestNothingIsOverwritten(t *testing.T) {
	whole, err := planned(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(whole, "missions", "missions/feature/prompts") {
		if name == specsReadme {
			continue // its folder is there then, and is left alone
		}
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("mine"), 0o644)); err != nil {
			t.Fatal(err)
		}
		before := listed(t, dir)
		_, err := Write(dir)
		var exists *ExistsError
		if !errors.As(err, &exists) || !slices.Equal(exists.Paths, []string{name}) {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "mine" || !slices.Equal(before, listed(t, dir)) {
			t.Errorf("%s: %q, %v; %v", name, data, err, listed(t, dir))
		}
	}
}

// A link to nothing is in the way too: writing through it would make a file
// elsewhere.
func TestLinkToNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, config.FileName)); err != nil {
		t.Skip(err)
	}
	var exists *ExistsError
	if _, err := Write(dir); !errors.As(err, &exists) {
		t.Error(err)
	}
	if got := listed(t, dir); len(got) != 2 {
		t.Errorf("left behind: %v", got)
	}
}

// A write that fails half-way is taken back.
func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w := &writer{dir: dir}
	if err := w.all([]string{"missions/feature/prompts/build.md", "no-such-file"}); err == nil || len(w.made) != 4 {
		t.Fatalf("%v, made %v", err, w.made)
	}
	if err := w.undo(); err != nil {
		t.Error(err)
	}
	if got := listed(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
