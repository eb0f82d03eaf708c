package scheduler

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// CrontabKept: whatever the crontab holds, it is the same byte for byte once all
// loops are out of it again, in whichever order; and foreign lines never change.
func TestCrontabKept(t *testing.T) {
	for _, foreign := range []string{"", "MAILTO=kim\n\n# mine\n5 4 * * * backup --all %x\n", "* * * * * no-end", "\r\n@reboot x\r\n\n\n", "# BEGIN other tool\n# END other tool\n"} {
		m := newMachine(t)
		if foreign != "" {
			m.crontab = &foreign
		}
		s := m.of(schedule.Cron)
		deps, first := sample(t, schedule.Cron, "deps", "0 2 * * *")
		_, second := sample(t, schedule.Cron, "deps", "30 3 * * *")
		other, third := sample(t, schedule.Cron, "other", "*/5 * * * *")
		for _, step := range []error{m.install(s, deps, first), m.install(s, other, third), m.install(s, deps, second), m.install(s, deps, second)} {
			if step != nil {
				t.Fatal(step)
			}
			if !strings.HasPrefix(*m.crontab, foreign) {
				t.Errorf("%q became %q", foreign, *m.crontab)
			}
		}
		if got := m.look(s, deps); len(got.Units) != 1 || got.Units[0].Text != second[0].Text || !got.Active {
			t.Errorf("%+v", got)
		}
		for _, step := range []error{m.remove(s, deps), m.remove(s, deps), m.remove(s, other)} {
			if step != nil {
				t.Fatal(step)
			}
		}
		switch {
		case foreign == "" && m.crontab != nil:
			t.Errorf("there was no crontab, and now there is %q", *m.crontab)
		case foreign != "" && (m.crontab == nil || *m.crontab != foreign):
			t.Errorf("%q became %q", foreign, orEmpty(m.crontab))
		}
		if got := m.look(s, deps); len(got.Units) != 0 || got.Active {
			t.Errorf("%+v", got)
		}
	}
}

// A crontab that cannot be read for any reason but that there is none is never
// written.
func TestCrontabUnreadable(t *testing.T) {
	for name, ran := range map[string]Ran{
		"not allowed":      {Exit: 1, Stderr: "You (kim) are not allowed to use this program (crontab)\n"},
		"half of it":       {Exit: 1, Stdout: "* * * * * x\n", Stderr: "no crontab: read error\n"},
		"not there":        {Exit: -1, Err: errors.New("executable file not found")},
		"too much":         {Err: errors.New("it wrote more than is kept")},
		"killed":           {Exit: -1, Err: errors.New("ended by the signal killed")},
		"says nothing":     {Exit: 1},
		"spool unreadable": {Exit: 1, Stderr: "crontab: can't open 'kim': Permission denied\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.answers["crontab -l"] = ran
			deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
			s := m.of(schedule.Cron)
			_, planned := s.Plan(t.Context(), deps, units)
			_, removed := s.Plan(t.Context(), deps, nil)
			_, looked := s.Look(t.Context(), deps)
			for _, err := range []error{planned, removed, looked} {
				if e := new(Error); !errors.As(err, &e) || e.System != schedule.Cron {
					t.Errorf("%v", err)
				}
			}
			for _, call := range m.calls {
				if call != "crontab -l" {
					t.Errorf("%s was called", call)
				}
			}
		})
	}
}

// Somebody else's change between the look and the write is not lost.
func TestCrontabChangedMeanwhile(t *testing.T) {
	m := newMachine(t)
	theirs := "1 1 * * * theirs\n"
	deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
	s := m.of(schedule.Cron)
	changes, err := s.Plan(t.Context(), deps, units)
	if err != nil {
		t.Fatal(err)
	}
	m.crontab = &theirs
	if err := s.Install(t.Context(), deps, changes); !errors.As(err, new(*ChangedError)) || *m.crontab != theirs {
		t.Errorf("%v, %q", err, *m.crontab)
	}
	// In the same moment as the write: it is told.
	m.before = func(call string) {
		if call == "crontab -l" && strings.Contains(*m.crontab, "uid-deps") {
			m.crontab = &theirs
		}
	}
	if err := m.install(s, deps, units); err == nil || !strings.Contains(err.Error(), "not what was written") {
		t.Errorf("%v", err)
	}
}

// What crontab does not take is told in its words, and nothing is changed.
func TestCrontabNotTaken(t *testing.T) {
	m := newMachine(t)
	deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
	pretended := m.host.Run
	m.host.Run = func(ctx context.Context, stdin string, argv ...string) Ran {
		if argv[1] == "-" {
			return Ran{Exit: 1, Stderr: "\"-\":1: bad minute\n"}
		}
		return pretended(ctx, stdin, argv...)
	}
	if err := m.install(m.of(schedule.Cron), deps, units); err == nil || !strings.Contains(err.Error(), "bad minute") || m.crontab != nil {
		t.Errorf("%v", err)
	}
}

// A crontab whose program does not show it as it is is not written: the letters \r would
// take the place of a carriage return. Where they are letters, all is well.
func TestCrontabShownOtherwise(t *testing.T) {
	for foreign, kept := range map[string]bool{
		"5 4 * * * a\r\n":                      false,
		"# a\bb\n":                             false,
		"5 4 * * * printf 'a\\r\\n'; b \\bx\n": true,
	} {
		m := newMachine(t)
		m.debian, m.crontab = true, &foreign
		deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
		s := m.of(schedule.Cron)
		changes, err := s.Plan(t.Context(), deps, units)
		if kept {
			if err := errors.Join(err, s.Install(t.Context(), deps, changes), m.remove(s, deps)); err != nil {
				t.Errorf("%q: %v", foreign, err)
			}
		} else if e := new(Error); !errors.As(err, &e) || !strings.Contains(e.Why, "Windows") {
			t.Errorf("%q: %v", foreign, err)
		}
		if *m.crontab != foreign {
			t.Errorf("%q became %q", foreign, *m.crontab)
		}
	}
}

// A last line without an end, where crontab does not take that back: nothing is changed
// by a byte, and the way out is told. Where it is taken, it is put back as it was.
func TestCrontabWithoutALastEnd(t *testing.T) {
	for _, debian := range []bool{true, false} {
		m := newMachine(t)
		foreign := "5 4 * * * a"
		m.debian, m.crontab = debian, &foreign
		s := m.of(schedule.Cron)
		deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
		err := m.install(s, deps, units)
		if e := new(Error); debian && (!errors.As(err, &e) || !strings.Contains(e.Why, "crontab -e")) {
			t.Error(err)
		}
		if !debian {
			if err := errors.Join(err, m.remove(s, deps)); err != nil {
				t.Error(err)
			}
		}
		if *m.crontab != foreign {
			t.Errorf("debian %v: it became %q", debian, *m.crontab)
		}
	}
}

// One that lost its last end since, past crontab, still has our part taken out; what was
// changed besides is told.
func TestCrontabThatLostItsLastEnd(t *testing.T) {
	m := newMachine(t)
	m.debian = true
	s := m.of(schedule.Cron)
	deps, units := sample(t, schedule.Cron, "deps", "0 2 * * *")
	if err := m.install(s, deps, units); err != nil {
		t.Fatal(err)
	}
	edited := *m.crontab + "5 4 * * * a"
	m.crontab = &edited
	changes, err := s.Plan(t.Context(), deps, nil)
	if err := errors.Join(err, s.Remove(t.Context(), deps, changes)); err != nil {
		t.Fatal(err)
	}
	if want := "5 4 * * * a\n"; orEmpty(m.crontab) != want || orEmpty(changes[0].After) != want {
		t.Errorf("%q, said %q", orEmpty(m.crontab), orEmpty(changes[0].After))
	}
}
