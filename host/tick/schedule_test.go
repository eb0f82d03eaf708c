package tick

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/host/scheduler"
)

// tab is a machine with a pretended crontab and no service manager.
type tab struct {
	text  *string
	fails string // a call that fails
}

func (c *tab) run(_ context.Context, stdin string, argv ...string) scheduler.Ran {
	call := strings.Join(argv, " ")
	switch {
	case call == c.fails:
		return scheduler.Ran{Exit: 1, Stderr: "it does not work"}
	case call == "crontab -l" && c.text == nil:
		return scheduler.Ran{Exit: 1, Stderr: "no crontab for kim"}
	case call == "crontab -l":
		return scheduler.Ran{Stdout: *c.text}
	case call == "crontab -":
		c.text = &stdin
	case call == "crontab -r":
		c.text = nil
	default:
		return scheduler.Ran{Exit: 1, Stderr: "no bus"}
	}
	return scheduler.Ran{}
}

// on gives loops this crontab, and a program to start that is there.
func (c *tab) on(o *Options) {
	o.Schedulers = &scheduler.Host{Run: c.run, GOOS: "linux", User: "kim", UnitDir: filepath.Join(os.TempDir(), "no-such-folder")}
	o.Program = func() (string, error) { return os.Args[0], nil }
}

func every(d time.Duration) func(*loop.Definition) {
	return func(def *loop.Definition) { def.Schedule.Rule = schedule.Rule{Every: d} }
}

func (y *yard) flags() []string { y.t.Helper(); return y.status().Flags }

// A schedule from none to none: what is printed is what is installed; the status
// tells what is wrong with it; nothing is left of it after retire.
func TestScheduleLife(t *testing.T) {
	y := newYard(t, commits, every(30*time.Minute))
	y.create("deps")
	foreign := "1 1 * * * mine\n"
	c := &tab{text: &foreign}
	ctx, q := t.Context(), ScheduleRequest{Loop: "deps", Who: "human:me"}
	l := y.loops(c.on)
	if got := y.flags(); !slices.Equal(got, []string{"unscheduled"}) {
		t.Errorf("%v", got)
	}
	printed, err := l.PrintSchedule(ctx, ScheduleRequest{Loop: "deps", System: schedule.Cron})
	must(t, err)
	dry, err := l.InstallSchedule(ctx, ScheduleRequest{Loop: "deps", DryRun: true})
	must(t, err)
	if dry.Installed || len(dry.Changes) != 1 || *c.text != foreign || exists(filepath.Join(l.dir(), "deps", noteName)) {
		t.Errorf("%+v", dry)
	}
	s, err := l.InstallSchedule(ctx, q)
	must(t, err)
	if s.System != schedule.Cron || !s.Installed || !s.Fires || s.NextDue == "" || len(s.Drift) > 0 || s.Units[0].Text != printed.Units[0].Text || *s.Changes[0].After != *c.text {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(*c.text, " loop tick deps --scheduled ") || !strings.HasPrefix(*c.text, foreign) {
		t.Errorf("%s", *c.text)
	}
	if got := y.flags(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	again, err := l.InstallSchedule(ctx, q)
	must(t, err)
	if len(again.Changes) != 0 || len(again.Drift) != 0 {
		t.Errorf("%+v", again)
	}
	report, err := l.Retire(ctx, "deps", "human:me", "over", false)
	must(t, err)
	if len(report.Warnings) != 0 || *c.text != foreign || exists(filepath.Join(l.dir(), "deps", noteName)) {
		t.Errorf("%+v\n%s", report, *c.text)
	}
	gone, err := l.ScheduleStatus(ctx, q)
	must(t, err)
	if gone.Installed || gone.ReasonCode != "unscheduled" || len(y.flags()) != 0 {
		t.Errorf("%+v %v", gone, y.flags())
	}
}

// Drift, by its cause; each is told by asking the scheduler, and what the files tell
// also by the status.
func TestScheduleDrift(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(y *yard, c *tab)
		say    string
		flags  []string
	}{
		"the definition changed": {func(y *yard, _ *tab) { y.define("deps", commits, every(time.Hour)) }, changedSinceInstall, []string{"drift"}},
		"a limit changed": {func(y *yard, _ *tab) {
			y.define("deps", commits, every(30*time.Minute), func(d *loop.Definition) { d.Work.Timeout = time.Hour })
		}, changedSinceInstall, []string{"drift"}},
		"no schedule any more": {func(y *yard, _ *tab) { y.define("deps", commits) }, definitionHasNone, []string{"drift"}},
		"edited by hand": {func(_ *yard, c *tab) {
			text := strings.Replace(*c.text, "*/30", "*/31", 1)
			c.text = &text
		}, "somebody changed it", nil},
		"taken out by hand": {func(_ *yard, c *tab) { c.text = nil }, "somebody took it out", nil},
		"no definition":     {func(y *yard, _ *tab) { delete(y.defs, "deps") }, "cannot be read", nil},
		"note lost": {func(y *yard, _ *tab) {
			must(y.t, os.Remove(filepath.Join(y.root, ".state", "loops", "deps", noteName)))
		}, "install it again", []string{"unscheduled"}},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, commits, every(30*time.Minute))
			y.create("deps")
			c := &tab{}
			q := ScheduleRequest{Loop: "deps", Who: "human:me"}
			_, err := y.loops(c.on).InstallSchedule(t.Context(), q)
			must(t, err)
			tt.change(y, c)
			s, err := y.loops(c.on).ScheduleStatus(t.Context(), q)
			must(t, err)
			if !strings.Contains(strings.Join(s.Drift, "\n"), tt.say) {
				t.Errorf("%+v", s)
			}
			if got := y.flags(); !slices.Equal(got, append([]string{}, tt.flags...)) {
				t.Errorf("flags %v, want %v", got, tt.flags)
			}
		})
	}
}

// A scheduler that fails leaves no note behind; retire ends the loop all the same,
// and says that its schedule is still there. A pause or a halt never asks it.
func TestScheduleFails(t *testing.T) {
	y := newYard(t, commits, every(30*time.Minute))
	y.create("deps")
	c := &tab{fails: "crontab -"}
	q := ScheduleRequest{Loop: "deps", Who: "human:me"}
	_, err := y.loops(c.on).InstallSchedule(t.Context(), q)
	wantRefusal(t, err, SchedulerFailed)
	if got := y.flags(); !slices.Equal(got, []string{"unscheduled"}) {
		t.Errorf("%v", got)
	}
	c.fails = ""
	_, err = y.loops(c.on).InstallSchedule(t.Context(), q)
	must(t, err)
	_, err = y.loops(c.on).InstallSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: schedule.Systemd})
	wantRefusal(t, err, ScheduledBySystem)
	c.fails = "crontab -l"
	report, err := y.loops(c.on).Retire(t.Context(), "deps", "human:me", "", false)
	must(t, err)
	if len(report.Warnings) != 1 || report.Warnings[0].Code != "drift" || !slices.Equal(y.flags(), []string{"drift"}) || y.status().Status != "retired" {
		t.Errorf("%+v %+v", report, y.status())
	}
	c.fails = ""
	_, err = y.loops(c.on).InstallSchedule(t.Context(), q)
	wantRefusal(t, err, loop.IsRetired)
	if report, err = y.loops(c.on).Remove(t.Context(), "deps", "human:me", false); err != nil || len(report.Warnings) != 0 || c.text != nil {
		t.Errorf("%+v %v %v", report, err, c.text)
	}
}

// CalendarRefusals: what a scheduler cannot keep is refused with what fits, before
// anything is asked of it; so is a loop without a schedule, and the inside of a run.
func TestScheduleRefused_CalendarRefusals(t *testing.T) {
	y := newYard(t, commits, every(45*time.Minute))
	y.define("plain", commits)
	y.create("deps")
	y.create("plain")
	c := &tab{fails: "crontab -l"}
	l := y.loops(c.on)
	for _, system := range []schedule.System{schedule.Systemd, schedule.Cron, schedule.Launchd} {
		_, err := l.PrintSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: system})
		wantRefusal(t, err, CalendarRefused)
		if !strings.Contains(err.Error(), "every 30m, every 1h") {
			t.Errorf("%v", err)
		}
	}
	_, err := l.InstallSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: schedule.Cron})
	wantRefusal(t, err, CalendarRefused)
	s, err := l.PrintSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: schedule.Schtasks})
	if err != nil || len(s.Units) != 1 {
		t.Errorf("%+v %v", s, err)
	}
	_, err = l.InstallSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: schedule.Schtasks})
	wantRefusal(t, err, SystemUnsupported)
	_, err = l.PrintSchedule(t.Context(), ScheduleRequest{Loop: "plain"})
	wantRefusal(t, err, NoSchedule)
	_, err = l.PrintSchedule(t.Context(), ScheduleRequest{Loop: "none"})
	wantRefusal(t, err, loop.Untracked)
	inside := y.loops(c.on, func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{variable: "x/1", "SPEC_KITTY_LOOP": "deps"}[name] }
	})
	_, installing := inside.InstallSchedule(t.Context(), ScheduleRequest{Loop: "deps"})
	_, removing := inside.RemoveSchedule(t.Context(), ScheduleRequest{Loop: "deps"})
	wantRefusal(t, installing, loop.InsideRun)
	wantRefusal(t, removing, loop.InsideRun)
}

// The note of a loop that was removed is not taken for that of one made anew; a
// damaged one is told, and made good by naming the scheduler.
func TestScheduleNote(t *testing.T) {
	y := newYard(t, commits, every(30*time.Minute))
	y.create("deps")
	l := y.loops((&tab{}).on)
	path := filepath.Join(l.dir(), "deps", noteName)
	raw, err := json.Marshal(note{Schema: 1, System: schedule.Cron, Job: schedule.Job{Loop: "deps", UID: "another"}})
	must(t, err, os.WriteFile(path, raw, 0o644))
	if got := y.flags(); !slices.Equal(got, []string{"unscheduled"}) {
		t.Errorf("%v", got)
	}
	must(t, os.WriteFile(path, []byte("{"), 0o644))
	if s := y.status(); len(s.Warnings) != 1 || s.Warnings[0].Code != "note_unreadable" {
		t.Errorf("%+v", s)
	}
	if _, err := l.RemoveSchedule(t.Context(), ScheduleRequest{Loop: "deps"}); err == nil || !strings.Contains(err.Error(), "--system") {
		t.Errorf("%v", err)
	}
	s, err := l.RemoveSchedule(t.Context(), ScheduleRequest{Loop: "deps", System: schedule.Cron})
	if err != nil || s.ReasonCode != "not_installed" || exists(path) {
		t.Errorf("%+v %v", s, err)
	}
}

// The time limit that a scheduler is given is longer than all of the definition's.
func TestScheduleTimeLimit(t *testing.T) {
	y := newYard(t, commits, func(d *loop.Definition) {
		d.Gate, d.Goal = sh("true"), &loop.Check{Command: "declared"}
		d.Verify = &loop.Verifier{Check: loop.Check{Plugin: "p"}}
		d.Work.Timeout, d.Work.KillGrace, d.Lease, d.Worktree.Setup = time.Hour, time.Minute, time.Minute, []string{"true"}
	})
	// work and setup 2h2m, gate 20s, verify 20m, goal 1m, each with a minute's grace, the lease
	if got, want := y.loops().longest(y.defs["deps"]), slack+2*time.Hour+27*time.Minute+20*time.Second; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
