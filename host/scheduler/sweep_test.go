package scheduler

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Installing and removing units, with a disk that fails once at its nth operation,
// or from there on, as for a process that is killed there (P3).
func TestSweepOfUnits_P3(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for _, removing := range []bool{false, true} {
			for n, met := 0, true; met; n++ {
				met = sweepUnits(t, n, killed, removing)
			}
		}
	}
}

// sweepUnits makes one change with a fault at operation n, and tells whether it
// was met. A change that failed left what was there; one that was killed is made
// whole by the next.
func sweepUnits(t *testing.T, n int, killed, removing bool) (met bool) {
	t.Helper()
	m := newMachine(t)
	s := m.of(schedule.Systemd)
	deps, first := sample(t, schedule.Systemd, "deps", "0 2 * * *")
	_, second := sample(t, schedule.Systemd, "deps", "30 3 * * *")
	if err := m.install(s, deps, first); err != nil {
		t.Fatal(err)
	}
	change, want := func() error { return m.install(s, deps, second) }, second
	if removing {
		change, want = func() error { return m.remove(s, deps) }, nil
	}
	faulty := &durable.Faulty{Disk: durable.OS(), Fail: func(i int, _ durable.Op) error {
		if i == n || killed && i > n {
			return durable.ErrInjected
		}
		return nil
	}}
	m.host.Disk = faulty
	err := change()
	m.host.Disk = nil
	switch {
	case err != nil && !errors.Is(err, durable.ErrInjected):
		t.Fatalf("operation %d: %v", n, err)
	case err != nil && !killed:
		if got := m.look(s, deps); !slices.Equal(got.Units, first) {
			t.Errorf("operation %d failed, removing %v: %+v is left", n, removing, got)
		}
	}
	if err != nil {
		if err := change(); err != nil {
			t.Errorf("operation %d: made again: %v", n, err)
		}
	}
	got, left := m.look(s, deps), names(t, m.host.UnitDir)
	if !slices.Equal(got.Units, want) || got.Active != !removing || len(left) != len(want) {
		t.Errorf("operation %d, killed %v, removing %v: %+v, %q", n, killed, removing, got, left)
	}
	return faulty.Count() > n
}

// names are those in a folder, but for temporary files of a process that lives:
// a killed one's would be gone by now.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if !durable.IsTemp(e.Name()) {
			all = append(all, e.Name())
		}
	}
	return all
}

// What a killed writer left beside a unit goes with the next change.
func TestUnitTempsGo_P3(t *testing.T) {
	m := newMachine(t)
	s := m.of(schedule.Systemd)
	deps, units := sample(t, schedule.Systemd, "deps", "0 2 * * *")
	left := filepath.Join(m.host.UnitDir, "."+units[0].Name+".tmp-7fffffff00000001")
	if err := errors.Join(os.MkdirAll(m.host.UnitDir, 0o755), os.WriteFile(left, nil, 0o644), m.install(s, deps, units)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is left", left)
	}
}
