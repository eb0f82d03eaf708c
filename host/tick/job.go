package tick

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Files of a loop's folder that belong to its schedule.
const (
	noteName = "schedule.json" // what was installed, and where
	logName  = "schedule.log"  // what scheduled ticks print
)

// slack is what a tick may take beside the programs of its definition: git, the
// lock, notices.
const slack = 10 * time.Minute

// note is what was last given to a scheduler. It is written before the scheduler is
// told and removed after it was told to forget, so that nothing fires which is not
// noted. It is no part of the loop's state: no tick reads it.
type note struct {
	Schema int             `json:"schema"`
	System schedule.System `json:"system"`
	By     string          `json:"by"`
	At     time.Time       `json:"at"`
	Job    schedule.Job    `json:"job"`
}

// readNote is the note of a loop; nil where there is none, or one of another loop
// that had its name.
func (l *Loops) readNote(name, uid string) (*note, error) {
	raw, err := readFile(filepath.Join(l.dir(), name), noteName)
	if err != nil || raw == nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("%s of loop %s cannot be read: %w; `spec-kitty loop schedule remove %s --system SYSTEM` makes good for it", noteName, name, err, name)
	}
	if n.Job.UID != uid {
		return nil, nil
	}
	return &n, nil
}

// writeNote replaces the note of a loop, durably; nil removes it.
func (l *Loops) writeNote(name string, n *note) error {
	path := filepath.Join(l.dir(), name, noteName)
	if n == nil {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), path)
	return durable.Replace(durable.OS(), path, append(raw, '\n'), 0o644)
}

// job is what a scheduler is to be told of a loop. Its surroundings are those of
// the caller now, which is the last one that has any: schedulers start programs in
// none.
func (l *Loops) job(o *opened, src Source) (schedule.Job, error) {
	program, err := l.program()
	if err != nil {
		return schedule.Job{}, fmt.Errorf("the path of this program cannot be told: %w", err)
	}
	user := l.getenv("USER")
	return l.jobIn(o, src, schedule.Job{Program: program, Path: l.getenv("PATH"), Home: l.getenv("HOME"), User: cmp.Or(user, l.getenv("LOGNAME"))}), nil
}

// jobIn is the same in surroundings that are known.
func (l *Loops) jobIn(o *opened, src Source, in schedule.Job) schedule.Job {
	s := src.Schedule
	return schedule.Job{
		Loop: o.name, UID: o.state.UID, Program: in.Program, Args: []string{"loop", "tick", o.name, "--scheduled"},
		Dir: l.ground.Root, Path: in.Path, Home: in.Home, User: in.User, Log: filepath.Join(l.dir(), o.name, logName),
		Rule: s.Rule, Jitter: s.Jitter, CatchUp: s.CatchUp, Timeout: l.longest(src.Definition),
	}
}

// longest is how long a tick may take before it is stuck: all time limits and the
// grace after each.
func (l *Loops) longest(d *loop.Definition) time.Duration {
	all := slack + d.Work.Timeout + d.Work.KillGrace + d.Lease
	if len(d.Worktree.Setup) > 0 {
		all += d.Work.Timeout + d.Work.KillGrace
	}
	for _, c := range d.Checks() {
		limit := c.Timeout
		if declared, err := l.ground.Command(c.Command); c.Command != "" && err == nil && limit == 0 {
			limit = declared.Timeout
		}
		if limit == 0 {
			limit = loop.DefaultCheckTimeout
		}
		all += limit + d.Work.KillGrace
	}
	return all
}

// scheduleFlags are what can be told of a loop's schedule by looking at files
// alone. What the scheduler itself has, `loop schedule status` asks it.
func (o *opened) scheduleFlags(src Source) (flags []string, warning string) {
	n, err := o.l.readNote(o.name, o.state.UID)
	retired, wanted := o.state.Control.Desired == loop.Stopped, !src.Schedule.Rule.IsZero()
	switch {
	case err != nil:
		return nil, err.Error()
	case n == nil && wanted && !retired:
		return []string{"unscheduled"}, ""
	case n != nil && (retired || !reflect.DeepEqual(o.l.jobIn(o, src, n.Job), n.Job)):
		return []string{"drift"}, ""
	}
	return nil, ""
}
