package scheduler

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/schedule"
)

func TestMain(m *testing.M) {
	command.Main()
	goleak.VerifyTestMain(m)
}

// machine is a machine with a crontab and a service manager that are pretended.
type machine struct {
	t       *testing.T
	host    *Host
	crontab *string
	calls   []string
	enabled map[string]bool
	answers map[string]Ran // by the call's words: instead of what it would do
	before  func(call string)
	debian  bool // crontab shows some characters as letters, and takes whole lines only
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, enabled: map[string]bool{}, answers: map[string]Ran{}}
	m.host = &Host{Run: m.run, GOOS: "linux", User: "kim", UnitDir: filepath.Join(t.TempDir(), "systemd", "user")}
	return m
}

func (m *machine) run(_ context.Context, stdin string, argv ...string) Ran {
	call := strings.Join(argv, " ")
	m.calls = append(m.calls, call)
	if m.before != nil {
		m.before(call)
	}
	for words, ran := range m.answers {
		if strings.HasPrefix(call, words) {
			return ran
		}
	}
	last := argv[len(argv)-1]
	switch {
	case call == "crontab -l" && m.crontab == nil:
		return Ran{Exit: 1, Stderr: "no crontab for kim\n"}
	case call == "crontab -l" && m.debian:
		return Ran{Stdout: strings.NewReplacer("\r", `\r`, "\b", `\b`).Replace(*m.crontab)}
	case call == "crontab -l", call == "env VISUAL=cat EDITOR=cat crontab -e":
		return Ran{Stdout: *m.crontab}
	case call == "crontab -" && m.debian && !strings.HasSuffix(stdin, "\n"):
		return Ran{Exit: 1, Stderr: "new crontab file is missing newline before EOF, can't install.\n"}
	case call == "crontab -r":
		m.crontab = nil
	case call == "crontab -":
		m.crontab = &stdin
	case strings.HasPrefix(call, "systemctl --user enable"):
		m.enabled[last] = true
	case strings.HasPrefix(call, "systemctl --user disable"):
		delete(m.enabled, last)
	case strings.HasPrefix(call, "systemctl --user show"):
		return m.show(argv[3])
	case strings.HasPrefix(call, "loginctl"):
		return Ran{Stdout: "Linger=no\n"}
	}
	return Ran{}
}

func (m *machine) show(unit string) Ran {
	if !m.enabled[unit] {
		return Ran{Stdout: "LoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nNextElapseUSecRealtime=\nNeedDaemonReload=no\n"}
	}
	return Ran{Stdout: "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNextElapseUSecRealtime=Mon 2026-11-30 02:00:00 UTC\nNeedDaemonReload=no\n"}
}

// entry and its units, as they are printed.
func sample(t *testing.T, system schedule.System, loop, cron string) (Entry, []schedule.Unit) {
	t.Helper()
	j := schedule.Job{Loop: loop, UID: "uid-" + loop, Program: "/bin/spec-kitty", Args: []string{"loop", "tick", loop, "--scheduled"}, Dir: "/srv/app",
		Path: "/usr/bin:/bin", Home: "/home/kim", User: "kim", Rule: schedule.Rule{Cron: cron}, Timeout: 3600e9}
	p, err := schedule.Print(system, j)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{Loop: loop, UID: j.UID}, p.Units
}

func (m *machine) of(system schedule.System) Scheduler {
	m.t.Helper()
	s, err := m.host.Of(system, Entry{"deps", "uid-deps"})
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

func (m *machine) install(s Scheduler, e Entry, units []schedule.Unit) error {
	m.t.Helper()
	changes, err := s.Plan(m.t.Context(), e, units)
	if err != nil {
		m.t.Fatal(err)
	}
	return s.Install(m.t.Context(), e, changes)
}

func (m *machine) remove(s Scheduler, e Entry) error {
	m.t.Helper()
	changes, err := s.Plan(m.t.Context(), e, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	return s.Remove(m.t.Context(), e, changes)
}

func (m *machine) look(s Scheduler, e Entry) Found {
	m.t.Helper()
	f, err := s.Look(m.t.Context(), e)
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}
