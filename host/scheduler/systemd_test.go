package scheduler

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// A unit folder is the same after install, reinstall and remove, and foreign units
// in it are never written.
func TestUnitsKept(t *testing.T) {
	m := newMachine(t)
	foreign := filepath.Join(m.host.UnitDir, "mine.timer")
	if err := errors.Join(os.MkdirAll(m.host.UnitDir, 0o755), os.WriteFile(foreign, []byte("[Timer]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(foreign)
	if err != nil {
		t.Fatal(err)
	}
	s := m.of(schedule.Systemd)
	deps, first := sample(t, schedule.Systemd, "deps", "0 2 * * *")
	_, second := sample(t, schedule.Systemd, "deps", "30 3 * * *")
	for _, units := range [][]schedule.Unit{first, second, second} {
		if err := m.install(s, deps, units); err != nil {
			t.Fatal(err)
		}
		got := m.look(s, deps)
		if !slices.Equal(got.Units, units) || !got.Active || got.Next == "" || got.Lingers == nil || *got.Lingers {
			t.Errorf("%+v", got)
		}
	}
	if want := "systemctl --user restart spec-kitty-loop-deps-uid-deps.timer"; !slices.Contains(m.calls, want) {
		t.Errorf("a timer that runs keeps its old times; %q was not called: %q", want, m.calls)
	}
	for range 2 { // the second finds nothing, and that is no error
		if err := m.remove(s, deps); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(m.host.UnitDir)
	after, statErr := os.Stat(foreign)
	if err != nil || statErr != nil || len(left) != 1 || !after.ModTime().Equal(info.ModTime()) || after.Mode() != info.Mode() || len(m.enabled) != 0 {
		t.Errorf("%v %v %v %v", left, err, statErr, m.enabled)
	}
}

// What the manager does not take leaves no file, and what was there before is back.
func TestUnitsTakenBack(t *testing.T) {
	for _, fails := range []string{"daemon-reload", "enable", "restart"} {
		t.Run(fails, func(t *testing.T) {
			m := newMachine(t)
			s := m.of(schedule.Systemd)
			deps, first := sample(t, schedule.Systemd, "deps", "0 2 * * *")
			_, second := sample(t, schedule.Systemd, "deps", "30 3 * * *")
			m.answers["systemctl --user "+fails] = Ran{Exit: 1, Stderr: "Failed to connect to bus\n"}
			if err := m.install(s, deps, first); err == nil || !strings.Contains(err.Error(), "connect to bus") {
				t.Fatalf("%v", err)
			}
			if got := m.look(s, deps); len(got.Units) != 0 || len(m.enabled) != 0 {
				t.Errorf("%+v %v", got, m.enabled)
			}
			delete(m.answers, "systemctl --user "+fails)
			if err := m.install(s, deps, first); err != nil {
				t.Fatal(err)
			}
			m.answers["systemctl --user "+fails] = Ran{Exit: 1}
			if err := m.install(s, deps, second); err == nil {
				t.Fatal("it went well")
			}
			if got := m.look(s, deps); !slices.Equal(got.Units, first) || !got.Active {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A timer that cannot be stopped keeps its files: what fires must be found again.
func TestUnitsNotStopped(t *testing.T) {
	m := newMachine(t)
	s := m.of(schedule.Systemd)
	deps, units := sample(t, schedule.Systemd, "deps", "0 2 * * *")
	if err := m.install(s, deps, units); err != nil {
		t.Fatal(err)
	}
	m.answers["systemctl --user disable"] = Ran{Exit: 1, Stderr: "no bus"}
	if err := m.remove(s, deps); err == nil {
		t.Fatal("it went well")
	}
	if got := m.look(s, deps); !slices.Equal(got.Units, units) {
		t.Errorf("%+v", got)
	}
}

// A file that somebody edits between the look and the write is left alone.
func TestUnitEditedMeanwhile(t *testing.T) {
	m := newMachine(t)
	s := m.of(schedule.Systemd)
	deps, units := sample(t, schedule.Systemd, "deps", "0 2 * * *")
	changes, err := s.Plan(t.Context(), deps, units)
	if err != nil {
		t.Fatal(err)
	}
	path := changes[1].Path
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("theirs"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), deps, changes); !errors.As(err, new(*ChangedError)) {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if raw, readErr := os.ReadFile(path); err != nil || readErr != nil || string(raw) != "theirs" || len(left) != 1 {
		t.Errorf("%q %v %v", raw, left, err)
	}
}

// The state is told in the manager's words; a timer that stands still, or whose
// file was edited without a reload, is not taken for one that fires.
func TestTimerThatStandsStill(t *testing.T) {
	for name, said := range map[string]string{
		"stopped":      "LoadState=loaded\nActiveState=inactive\nUnitFileState=enabled\nNeedDaemonReload=no\n",
		"not enabled":  "LoadState=loaded\nActiveState=active\nUnitFileState=disabled\nNeedDaemonReload=no\n",
		"masked":       "LoadState=masked\nActiveState=inactive\nUnitFileState=masked\nNeedDaemonReload=no\n",
		"not reloaded": "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNeedDaemonReload=yes\n",
		"no answer":    "",
	} {
		m := newMachine(t)
		s := m.of(schedule.Systemd)
		deps, units := sample(t, schedule.Systemd, "deps", "0 2 * * *")
		if err := m.install(s, deps, units); err != nil {
			t.Fatal(err)
		}
		m.answers["systemctl --user show"] = Ran{Stdout: said}
		m.answers["loginctl"] = Ran{Exit: 1}
		if got := m.look(s, deps); got.Active || got.State == "" || got.Lingers != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestUsual(t *testing.T) {
	m := newMachine(t)
	if got := m.host.Usual(t.Context()); got != schedule.Systemd {
		t.Errorf("%s", got)
	}
	m.answers["systemctl"] = Ran{Exit: 1, Stderr: "Failed to connect to bus"}
	if got := m.host.Usual(t.Context()); got != schedule.Cron {
		t.Errorf("%s", got)
	}
	for goos, want := range map[string]schedule.System{"darwin": schedule.Launchd, "windows": schedule.Schtasks} {
		m.host.GOOS = goos
		if got := m.host.Usual(t.Context()); got != want {
			t.Errorf("%s: %s", goos, got)
		}
		_, err := m.host.Of(want, Entry{"deps", "u"})
		if e := new(UnsupportedError); !errors.As(err, &e) || !strings.Contains(e.Do, "schedule print deps --system "+string(want)) {
			t.Errorf("%v", err)
		}
	}
}

// The programs of the system are found, get the user's surroundings and English.
func TestThisHost(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "crontab")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$LC_ALL $HOME $SECRET $1\"\ncat\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": "/home/kim", "USER": "kim", "SECRET": "x", "PATH": os.Getenv("PATH"), "LC_ALL": "de_DE"}
	h := ThisHost(dir, func(name string) string { return env[name] })
	r := h.Run(t.Context(), "in\n", script, "-l")
	if r.Err != nil && strings.Contains(r.Err.Error(), "exec format") {
		t.Skip("no shell scripts here")
	}
	if r.Exit != 3 || r.Stdout != "C /home/kim  -l\nin\n" || h.User != "kim" || h.UnitDir != filepath.Join("/home/kim", ".config", "systemd", "user") {
		t.Errorf("%+v %+v", r, h)
	}
	if r := h.Run(t.Context(), "", "no-such-program-here"); r.Err == nil || r.Exit != -1 {
		t.Errorf("%+v", r)
	}
}
