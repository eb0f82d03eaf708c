package lanes_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// realMissions is the folder of real missions beside the project; a clone
// without it skips what needs it.
func realMissions(t testing.TB) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "kitty-specs")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no real missions beside the project")
	}
	return dir
}

// Every real mission comes out at the lanes that the existing tool shows, and
// every front matter parses.
func TestRealMissions(t *testing.T) {
	dir := realMissions(t)
	all, bad, err := lanes.List(dir)
	if err != nil || len(bad) > 0 || len(all) != 40 {
		t.Fatalf("%d missions, damaged: %v, %v", len(all), bad, err)
	}
	for _, m := range all {
		t.Run(m.Slug, func(t *testing.T) {
			checkLanes(t, m.Dir)
			checkPackages(t, m.Dir)
			checkHandles(t, dir, m)
		})
	}
}

func checkLanes(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected-lanes.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]mission.Lane{}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	log, err := lanes.NewLogReader(dir).Read()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]mission.Lane{}
	for _, p := range log.Positions {
		got[p.Package] = p.Lane
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}
	if len(log.Warnings) > 0 {
		t.Errorf("warnings on a healthy log: %v", log.Warnings)
	}
}

func checkPackages(t *testing.T, dir string) {
	t.Helper()
	packages, err := lanes.NewReader(dir).Packages()
	if err != nil {
		t.Error(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tasks", "WP*.md"))
	if len(packages) != len(files) {
		t.Errorf("%d packages from %d files", len(packages), len(files))
	}
	for _, p := range packages {
		if p.Title == p.ID {
			t.Errorf("%s has no title", p.Path)
		}
	}
}

func checkHandles(t *testing.T, dir string, m lanes.Mission) {
	t.Helper()
	for _, handle := range []string{m.Slug, m.ID} {
		got, err := lanes.Resolve(dir, handle)
		if err != nil || got.Slug != m.Slug {
			t.Errorf("handle %s: %s, %v", handle, got.Slug, err)
		}
	}
	if m.Number == "" {
		return
	}
	got, err := lanes.Resolve(dir, m.Number)
	var several *lanes.AmbiguousError
	if errors.As(err, &several) && m.Number == "47" {
		return
	}
	if err != nil || got.Slug != m.Slug {
		t.Errorf("handle %s: %s, %v", m.Number, got.Slug, err)
	}
}

func BenchmarkLargestRealLog(b *testing.B) {
	dir := filepath.Join(realMissions(b), "tasks-py-degod-01KWF08S")
	data, err := os.ReadFile(filepath.Join(dir, lanes.LogFile))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := lanes.ParseLog("log", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTwelvePackages(b *testing.B) {
	dir := filepath.Join(realMissions(b), "sync-cli-degod-wave4-01M0B0MX")
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := lanes.NewReader(dir).Packages(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		r := lanes.NewReader(dir)
		for b.Loop() {
			if _, err := r.Packages(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
