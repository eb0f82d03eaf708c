package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link that leads the state root to another disk is followed and told of; one that
// leads it back into the project, where missions and grants are judged by names, is
// refused, as is one to nothing. Case 54.
func TestLinkedStateRoot_Case54(t *testing.T) {
	elsewhere := t.TempDir()
	if real, err := filepath.EvalSymlinks(elsewhere); err == nil {
		elsewhere = real
	}
	for name, tt := range map[string]struct {
		link, to string
		real     string // where it lies then
		says     string // why not
	}{
		"no link":                {},
		"to another disk":        {".kittify/step-runner", elsewhere, elsewhere, ""},
		"a folder above it":      {".kittify", elsewhere, filepath.Join(elsewhere, "step-runner"), ""},
		"into the missions":      {".kittify/step-runner", "../kitty-specs", "", "in the project already"},
		"into a granted folder":  {".kittify/step-runner", "../docs", "", "in the project already"},
		"into git's":             {".kittify/step-runner", "../.git", "", "in the project already"},
		"to the project":         {".kittify/step-runner", "..", "", "in the project already"},
		"to what holds all":      {".kittify/step-runner", "../..", "", "in the project already"},
		"to nothing":             {".kittify/step-runner", filepath.Join(elsewhere, "none"), "", "leads nowhere"},
		"in a ring":              {".kittify/step-runner", "step-runner", "", "leads nowhere"},
		"a folder above, inside": {".kittify", "docs", "", "in the project already"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "p")
			at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
			var err error
			for _, dir := range []string{"kitty-specs", "docs", ".git", filepath.Dir(tt.link)} {
				err = errors.Join(err, os.MkdirAll(at(dir), 0o755))
			}
			if err = errors.Join(err, os.WriteFile(at(FileName), []byte("schema = 1\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if tt.link != "" {
				if err := os.Symlink(tt.to, at(tt.link)); err != nil {
					t.Skip("no symbolic links here:", err)
				}
			}
			cfg, err := Load(root)
			if tt.says == "" {
				if err != nil || cfg.StateLink != tt.real {
					t.Errorf("leads to %q, want %q; %v", cfg.StateLink, tt.real, err)
				}
				return
			}
			if !errors.As(err, new(*InvalidError)) || !strings.Contains(err.Error(), "runtime.dir: ") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
		})
	}
}

// An absolute path of the project is the folder that it names, for all that is kept
// away from it.
func TestAbsoluteStateRootInside(t *testing.T) {
	root := t.TempDir()
	for dir, says := range map[string]string{"state": "", "kitty-specs/x": "lie in one another", ".": "the project root itself"} {
		text := "schema = 1\n[runtime]\ndir = '" + filepath.ToSlash(filepath.Join(root, dir)) + "'\n"
		if err := os.WriteFile(filepath.Join(root, FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(root)
		if says == "" {
			if err != nil || cfg.Runtime.Dir != "state" || !cfg.Reserved("state/x") {
				t.Errorf("%q, %v", cfg.Runtime.Dir, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", dir, err, says)
		}
	}
}

// An absolute folder that is the project or holds it, by its name or by a link, is
// refused as "." is: its .gitignore would hide the project. One that a link leads
// into the project is to be named as what it is.
func TestAbsoluteStateRootAround(t *testing.T) {
	above, err := filepath.EvalSymlinks(t.TempDir())
	root := filepath.Join(above, "p")
	if err = errors.Join(err, os.MkdirAll(filepath.Join(root, "kitty-specs"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"same": root, "above": above, "specs": filepath.Join(root, "kitty-specs"), "other": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(above, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	for dir, says := range map[string]string{
		"": "would hide", "..": "would hide", "same": "would hide", "above": "would hide",
		"specs": `write "kitty-specs"`, "same/state": `write "state"`, "above/p/new/state": `write "new/state"`,
		"other": "", "other/new/state": "", "beside": "", "p2": "",
	} {
		at := filepath.ToSlash(filepath.Join(above, dir))
		text := "schema = 1\n[runtime]\ndir = '" + at + "'\n"
		if err := os.WriteFile(filepath.Join(root, FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(root)
		switch {
		case says != "":
			if !errors.As(err, new(*InvalidError)) || !strings.Contains(err.Error(), "runtime.dir: ") || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", dir, err, says)
			}
		case err != nil || cfg.StateOwner() != root:
			t.Errorf("%s: %v", dir, err)
		}
	}
}
