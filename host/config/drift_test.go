package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestUnchanged(t *testing.T) {
	root := devProject(t)
	long := time.Now().Add(-time.Hour)
	definition, prompt := filepath.Join(root, "missions", "dev.toml"), filepath.Join(root, "missions", "prompts", "specify.md")
	for _, path := range []string{definition, prompt} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	_, frozen, err := LoadMission(cfg, "software-dev")
	if err != nil {
		t.Fatal(err)
	}
	if !cfg.Unchanged(frozen.Files, frozen.ReadAt) {
		t.Error("nothing changed")
	}
	if cfg.Unchanged(frozen.Files, long.Add(time.Second)) {
		t.Error("trusted a file that was one second old when it was read")
	}
	if err := os.Chtimes(prompt, long, long.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if cfg.Unchanged(frozen.Files, frozen.ReadAt) {
		t.Error("another time was not seen")
	}
	if err := os.Remove(prompt); err != nil {
		t.Fatal(err)
	}
	if cfg.Unchanged(frozen.Files, frozen.ReadAt) {
		t.Error("a missing prompt was not seen")
	}
}
