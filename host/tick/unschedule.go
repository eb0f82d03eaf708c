package tick

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/host/scheduler"
)

// RemoveSchedule takes a loop out of a scheduler: exactly what was installed. The
// definition need not be there any more.
func (l *Loops) RemoveSchedule(ctx context.Context, q ScheduleRequest) (Schedule, error) {
	if by := l.by(q.Who); by.Inside != "" {
		return Schedule{}, insideRun("removing a schedule", by)
	}
	o, err := l.open(ctx, q.Loop)
	if err != nil {
		return Schedule{}, err
	}
	defer o.close()
	return o.unschedule(ctx, q)
}

func (o *opened) unschedule(ctx context.Context, q ScheduleRequest) (Schedule, error) {
	l := o.l
	had, err := l.readNote(o.name, o.state.UID)
	if err != nil && q.System == "" {
		return Schedule{}, err
	}
	system := l.systemFor(ctx, q, had)
	from, changes, err := l.plan(ctx, o, system, nil)
	if err != nil {
		return Schedule{}, err
	}
	s := o.scheduled(system, "removed", fmt.Sprintf("%s has nothing of loop %s any more", system, o.name))
	s.changes(changes)
	switch {
	case q.DryRun:
		s.ReasonCode, s.Reason = "dry_run", "nothing was changed"
		return s, nil
	case len(changes) == 0:
		s.ReasonCode, s.Reason = "not_installed", fmt.Sprintf("%s had nothing of loop %s", system, o.name)
	default:
		if err := from.Remove(ctx, o.entry(), changes); err != nil {
			return Schedule{}, schedulerRefused(err)
		}
	}
	if had == nil || had.System == system {
		return s, l.writeNote(o.name, nil)
	}
	return s, nil
}

// forgetSchedule takes a loop that has ended out of its scheduler, after the commit
// that ended it. A failure is a warning: ticks of such a loop do nothing, and it is
// shown as drift.
func (o *opened) forgetSchedule(ctx context.Context, who string, report *Report) {
	had, err := o.l.readNote(o.name, o.state.UID)
	if err == nil && had == nil {
		return
	}
	if err == nil {
		_, err = o.unschedule(ctx, ScheduleRequest{Loop: o.name, Who: who, System: had.System})
	}
	if err != nil {
		report.Warnings = append(report.Warnings, Warning{"drift", "its schedule is still there: " + err.Error() + "; `spec-kitty loop schedule remove " + o.name + "` tries again"})
	}
}

// ScheduleStatus asks the scheduler what it has of a loop, and compares it with the
// definition. It changes nothing.
func (l *Loops) ScheduleStatus(ctx context.Context, q ScheduleRequest) (Schedule, error) {
	o, err := l.open(ctx, q.Loop)
	if err != nil {
		return Schedule{}, err
	}
	defer o.close()
	had, err := l.readNote(o.name, o.state.UID)
	if err != nil && q.System == "" {
		return Schedule{}, err
	}
	system := l.systemFor(ctx, q, had)
	of, err := l.schedulers.Of(system, o.entry())
	if err != nil {
		return Schedule{}, schedulerRefused(err)
	}
	return l.look(ctx, o, system, of)
}

// look asks a scheduler, and holds what it says against the definition.
func (l *Loops) look(ctx context.Context, o *opened, system schedule.System, of scheduler.Scheduler) (Schedule, error) {
	found, err := of.Look(ctx, o.entry())
	if err != nil {
		return Schedule{}, schedulerRefused(err)
	}
	s := o.scheduled(system, "unscheduled", fmt.Sprintf("%s has nothing of loop %s", system, o.name))
	src, srcErr := l.ground.Source(o.name)
	if srcErr == nil && !src.Schedule.Rule.IsZero() {
		s.NextDue = due(src.Schedule.Rule, l.now())
	}
	had, err := l.readNote(o.name, o.state.UID)
	if err != nil {
		s.Warnings = append(s.Warnings, Warning{"note_unreadable", err.Error()})
	}
	if len(found.Units) == 0 {
		if had != nil && had.System == system {
			s.Drift = append(s.Drift, "it was installed, and is gone: somebody took it out")
		}
		return s, nil
	}
	s.Installed, s.Fires, s.State, s.Next, s.Lingers = true, found.Active, found.State, found.Next, found.Lingers
	s.units(found.Units)
	s.ReasonCode, s.Reason = "scheduled", fmt.Sprintf("%s fires loop %s", system, o.name)
	s.Drift = append(s.Drift, l.drift(o, system, found, had, src, srcErr)...)
	if len(s.Drift) > 0 {
		s.ReasonCode, s.Reason = "drift", s.Drift[0]
	}
	if found.Lingers != nil && !*found.Lingers {
		s.Notes = append(s.Notes, "it fires only while "+cmp.Or(l.schedulers.User, "the user")+" is logged in; to fire always: loginctl enable-linger "+l.schedulers.User)
	}
	return s, nil
}

// drift is how what a scheduler has differs from what it should have.
func (l *Loops) drift(o *opened, system schedule.System, found scheduler.Found, had *note, src Source, srcErr error) []string {
	var all []string
	add := func(is bool, text string) {
		if is {
			all = append(all, text)
		}
	}
	add(!found.Active, "it does not fire: "+found.State)
	add(o.state.Control.Desired == loop.Stopped, retiredHasNoTimes)
	if had == nil || had.System != system {
		return append(all, "it is not known with what it was installed: install it again")
	}
	if then, err := schedule.Print(system, had.Job); err == nil {
		for _, want := range then.Units {
			add(!slices.Contains(found.Units, want), want.Name+" is not as it was installed: somebody changed it")
		}
	}
	switch {
	case srcErr != nil:
		add(true, "the definition cannot be read: "+srcErr.Error())
	case src.Schedule.Rule.IsZero():
		add(true, definitionHasNone)
	default:
		flags, _ := o.scheduleFlags(src)
		add(len(flags) > 0 && o.state.Control.Desired != loop.Stopped, changedSinceInstall+": install it again")
	}
	if _, err := os.Stat(had.Job.Program); err != nil {
		add(true, "the program that it starts is not there any more: "+err.Error())
	}
	return all
}
