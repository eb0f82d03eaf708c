package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// systemd is the user's service manager. Its units are files of our own, so other
// units are never touched.
type systemd struct{ h *Host }

func (s systemd) ctl(ctx context.Context, args ...string) error {
	return failed(schedule.Systemd, "systemctl --user "+strings.Join(args, " "), s.h.Run(ctx, "", append([]string{"systemctl", "--user"}, args...)...))
}

// files are the names of the units that a loop has.
func files(e Entry) []string { return []string{e.name() + ".service", e.name() + ".timer"} }

func timer(e Entry) string { return e.name() + ".timer" }

// Look implements Scheduler. The files say what is to be, the manager what is.
func (s systemd) Look(ctx context.Context, e Entry) (Found, error) {
	var f Found
	for _, name := range files(e) {
		text, err := readText(filepath.Join(s.h.UnitDir, name))
		if err != nil {
			return f, err
		}
		if text != nil {
			f.Units = append(f.Units, schedule.Unit{Name: name, Text: *text})
		}
	}
	if len(f.Units) == 0 {
		return f, nil
	}
	r := s.h.Run(ctx, "", "systemctl", "--user", "show", timer(e), "--property=LoadState,ActiveState,UnitFileState,NextElapseUSecRealtime,NeedDaemonReload")
	if err := failed(schedule.Systemd, "ask for "+timer(e), r); err != nil {
		return f, err
	}
	said := properties(r.Stdout)
	f.Active = said["ActiveState"] == "active" && said["UnitFileState"] == "enabled" && said["NeedDaemonReload"] != "yes"
	f.State = fmt.Sprintf("%s, %s, %s", said["LoadState"], said["ActiveState"], cmp.Or(said["UnitFileState"], "not enabled"))
	if said["NeedDaemonReload"] == "yes" {
		f.State += ", its file is newer than what the manager has read"
	}
	f.Next, f.Lingers = said["NextElapseUSecRealtime"], s.lingers(ctx)
	return f, nil
}

// lingers tells whether the user's units go on without a login.
func (s systemd) lingers(ctx context.Context) *bool {
	r := s.h.Run(ctx, "", "loginctl", "show-user", s.h.User, "--property=Linger")
	if r.Err != nil || r.Exit != 0 {
		return nil
	}
	linger, ok := properties(r.Stdout)["Linger"]
	if !ok {
		return nil
	}
	yes := linger == "yes"
	return &yes
}

// properties are lines of NAME=VALUE.
func properties(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			all[name] = value
		}
	}
	return all
}

// Plan implements Scheduler.
func (s systemd) Plan(_ context.Context, e Entry, units []schedule.Unit) ([]Change, error) {
	want := map[string]string{}
	for _, u := range units {
		want[u.Name] = u.Text
	}
	var changes []Change
	for _, name := range files(e) {
		path := filepath.Join(s.h.UnitDir, name)
		before, err := readText(path)
		if err != nil {
			return nil, err
		}
		c := Change{Path: path, Before: before}
		if text, ok := want[name]; ok {
			c.After = &text
		}
		if !c.same() {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// Install implements Scheduler: the files, then the manager is told. A timer that
// runs keeps its old times until it is restarted. What the manager does not take
// is taken back.
func (s systemd) Install(ctx context.Context, e Entry, changes []Change) error {
	if err := s.write(ctx, changes); err != nil {
		return err
	}
	return s.enable(ctx, e, changes)
}

// Remove implements Scheduler. A tick that is at work goes on: to stop a timer
// leaves its service alone.
func (s systemd) Remove(ctx context.Context, e Entry, changes []Change) error {
	for _, c := range changes {
		if filepath.Base(c.Path) == timer(e) {
			if err := s.ctl(ctx, "disable", "--now", timer(e)); err != nil {
				return err
			}
		}
	}
	if err := s.write(ctx, changes); err != nil || len(changes) == 0 {
		return err
	}
	return s.ctl(ctx, "daemon-reload")
}

// write makes all changes of files, or none: one that failed may be made all the
// same, where only its name was not synced.
func (s systemd) write(ctx context.Context, changes []Change) error {
	for i, c := range changes {
		err := s.replace(c)
		if err == nil {
			continue
		}
		if now, read := readText(c.Path); read == nil && (Change{Before: c.After, After: now}).same() {
			i++
		}
		return errors.Join(err, s.undo(ctx, changes[:i]))
	}
	return nil
}

func (s systemd) enable(ctx context.Context, e Entry, changes []Change) error {
	for _, args := range [][]string{{"daemon-reload"}, {"enable", timer(e)}, {"restart", timer(e)}} {
		err := s.ctl(ctx, args...)
		if err == nil {
			continue
		}
		fresh := len(changes) > 0 && changes[len(changes)-1].Before == nil
		if fresh && args[0] != "daemon-reload" {
			_ = s.ctl(ctx, "disable", "--now", timer(e)) // the error that counts is the first
		}
		return errors.Join(err, s.undo(ctx, changes))
	}
	return nil
}

// undo puts files back as they were.
func (s systemd) undo(ctx context.Context, changes []Change) error {
	var failed error
	for _, c := range changes {
		failed = errors.Join(failed, s.replace(Change{Path: c.Path, Before: c.After, After: c.Before}))
	}
	if len(changes) > 0 {
		_ = s.ctl(ctx, "daemon-reload") // as above
	}
	return failed
}

// replace writes one file, if it still is as it was when the change was planned.
func (s systemd) replace(c Change) error {
	now, err := readText(c.Path)
	switch {
	case err != nil:
		return err
	case !(Change{Before: c.Before, After: now}).same():
		return &ChangedError{c.Path}
	}
	d := s.h.disk()
	if c.After == nil {
		return errors.Join(d.Remove(c.Path), d.SyncDir(filepath.Dir(c.Path)))
	}
	if err := durable.MkdirAll(d, filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(d, c.Path)
	// Under the temporary name, which ends in no type of unit, systemd does not read it.
	return durable.Replace(d, c.Path, []byte(*c.After), 0o644)
}
