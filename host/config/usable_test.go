package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Case45: a mistake in one entry is an error for who uses it, and for Load; who
// goes on with what is sound is not stopped by it and can tell that it is there.
func TestLoadUsable_Case45(t *testing.T) {
	const sound = "schema = 1\n[missions.good]\nsteps = [{ id = \"a\" }]\n"
	for name, c := range map[string]struct {
		add   string
		fault string // the path of the first fault; "": the whole configuration is invalid
		uses  string // a mission type that the fault stops
	}{
		"mission":           {"[missions.bad]\nsteps = [{ id = \"a\", gaurds = [] }]", "missions.bad.steps[0].gaurds", "bad"},
		"mission's values":  {"[missions.bad]\nsteps = [{ id = \"a\", depends_on = [\"b\"], retri = 1 }]", "missions.bad.steps[0]", "bad"},
		"mission's name":    {"[missions.\"ba d\"]\nsteps = [{ id = \"a\" }]", `missions."ba d"`, "ba d"},
		"mission in a file": {"[missions.bad]\nfile = \"bad.toml\"\nsteps = []", "missions.bad.steps", "bad"},
		"command":           {"[commands.c]\nrun = []\n[missions.bad]\nsteps = [{ id = \"a\", guards = [{ command = \"c\" }] }]", "commands.c.run", "bad"},
		"plugin":            {"[plugins.p]\nwasm = \"p.wasm\"\n[missions.bad]\nsteps = [{ id = \"a\", executor = { plugin = \"p\" } }]", "plugins.p.sha256", "bad"},
		"loop":              {"[loops.l]\nwork = 3\nlimits = { max_runs = 1 }", "loops.l.work", ""},
		"top":               {"[unknown]\nkey = 1", "", ""},
		"runtime":           {"[runtime]\nholder = \"all\"", "", ""},
		"entry and runtime": {"[loops.l]\nwork = 3\n[runtime]\nholder = \"all\"", "", ""},
		"no table":          {"[loops]\nl = 3", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write(FileName, sound+c.add)
			write("bad.toml", "[[steps]]\nid = \"a\"\n")
			var invalid *InvalidError
			if _, err := Load(root); !errors.As(err, &invalid) {
				t.Fatalf("Load: %v", err)
			}
			cfg, err := LoadUsable(root)
			if c.fault == "" {
				if !errors.As(err, &invalid) {
					t.Fatalf("LoadUsable: %v", err)
				}
				return
			}
			if err != nil || len(cfg.Faults) == 0 || !strings.HasPrefix(cfg.Faults[0].Path, c.fault) || cfg.Faults[0].Line == 0 {
				t.Fatalf("LoadUsable: %v, faults %v", err, cfg.Faults)
			}
			if _, _, err := LoadMission(cfg, "good"); err != nil {
				t.Errorf("the sound mission: %v", err)
			}
			if _, _, err := LoadMission(cfg, c.uses); c.uses != "" && !errors.As(err, &invalid) {
				t.Errorf("what uses the fault: %v", err)
			}
			for name := range cfg.Plugins {
				t.Errorf("half of plugin %s can be used", name)
			}
			for name := range cfg.Commands {
				t.Errorf("half of command %s can be used", name)
			}
			if _, err := LoadLoop(cfg, "l"); err == nil {
				t.Error("the loop can be used, or made")
			}
		})
	}
}

// The folder of the missions must not lead out of the project, also where an entry
// is not sound.
func TestLoadUsableLooksAtSpecsDir(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(root, "kitty-specs")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(root, FileName), []byte("schema = 1\n[loops.l]\nwork = 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadUsable(root); err == nil || !strings.Contains(err.Error(), "specs_dir") {
		t.Errorf("%v", err)
	}
}
