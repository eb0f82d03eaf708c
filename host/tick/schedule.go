package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/host/scheduler"
)

// Codes of refusals of the schedule verbs.
const (
	NoSchedule          loop.Code = "no_schedule"          // the definition has no [schedule]
	CalendarRefused     loop.Code = "calendar_refused"     // the scheduler cannot keep the times
	NotPrintable        loop.Code = "not_printable"        // a path or a name that no scheduler can be told
	SchedulerFailed     loop.Code = "scheduler_failed"     // it could not be asked, or did not do it
	ScheduleChanged     loop.Code = "schedule_changed"     // somebody else changed it in the same moment
	CrontabDamaged      loop.Code = "crontab_damaged"      // its marks are not as they were written
	SystemUnsupported   loop.Code = "system_unsupported"   // can be printed for, and is not told
	ScheduledBySystem   loop.Code = "scheduled_by_another" // another scheduler has the loop
	retiredHasNoTimes             = "the loop is retired, and its schedule is still there"
	definitionHasNone             = "the definition has no schedule any more"
	changedSinceInstall           = "the definition changed since the schedule was installed"
)

// ScheduleRequest asks for one of the schedule verbs.
type ScheduleRequest struct {
	Loop, Who string
	System    schedule.System // "": the one that has the loop, else the usual one
	DryRun    bool            // only say what would change
}

// Schedule is what the schedule verbs answer.
type Schedule struct {
	Report
	System    schedule.System  `json:"system"`
	Installed bool             `json:"installed"`
	Fires     bool             `json:"fires"`
	State     string           `json:"state"`    // in the scheduler's words
	Next      string           `json:"next"`     // the next firing, in the scheduler's words; "": it does not say
	NextDue   string           `json:"next_due"` // by the definition, without jitter; "": never
	Lingers   *bool            `json:"lingers"`  // fires without a login; null: not known, or no matter here
	Drift     []string         `json:"drift"`
	Units     []ScheduleUnit   `json:"units"`
	Changes   []ScheduleChange `json:"unit_changes"`
	Notes     []string         `json:"notes"`
}

// ScheduleUnit is one file of a schedule, or the loop's part of the crontab.
type ScheduleUnit struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ScheduleChange is what becomes, or became, of a file or of the crontab.
type ScheduleChange struct {
	Path   string  `json:"path"`
	Before *string `json:"before"` // null: it was not there
	After  *string `json:"after"`  // null: it is not there then
}

func (o *opened) scheduled(system schedule.System, code, reason string) Schedule {
	return Schedule{Report: o.report(Done, code, reason), System: system, Drift: []string{}, Units: []ScheduleUnit{}, Changes: []ScheduleChange{}, Notes: []string{}}
}

func (s *Schedule) units(units []schedule.Unit) {
	for _, u := range units {
		s.Units = append(s.Units, ScheduleUnit{u.Name, u.Text})
	}
}

func (s *Schedule) changes(changes []scheduler.Change) {
	for _, c := range changes {
		s.Changes = append(s.Changes, ScheduleChange{c.Path, c.Before, c.After})
	}
}

// schedulable is a loop with its definition, which must have a schedule.
func (l *Loops) schedulable(ctx context.Context, name string) (*opened, Source, error) {
	o, err := l.open(ctx, name)
	if err != nil {
		return nil, Source{}, err
	}
	src, err := l.ground.Source(name)
	if err == nil && src.Schedule.Rule.IsZero() {
		err = &loop.Refusal{Code: NoSchedule, Message: "the definition of loop " + name + " has no [schedule] with every or cron; without one, ticks are fired by hand, or by a scheduler that you set up"}
	}
	if err != nil {
		o.close()
		return nil, src, err
	}
	return o, src, nil
}

// PrintSchedule gives the text of a loop's schedule. It asks no scheduler and
// changes nothing.
func (l *Loops) PrintSchedule(ctx context.Context, q ScheduleRequest) (Schedule, error) {
	o, src, err := l.schedulable(ctx, q.Loop)
	if err != nil {
		return Schedule{}, err
	}
	defer o.close()
	system := q.System
	if system == "" {
		system = map[string]schedule.System{"darwin": schedule.Launchd, "windows": schedule.Schtasks}[l.schedulers.GOOS]
	}
	if system == "" {
		system = schedule.Systemd
	}
	job, printed, err := l.printed(o, src, system)
	if err != nil {
		return Schedule{}, err
	}
	s := o.scheduled(system, "printed", fmt.Sprintf("as %s is told of it; nothing was installed", system))
	s.units(printed.Units)
	s.Notes, s.NextDue = append(s.Notes, printed.Notes...), due(job.Rule, l.now())
	return s, nil
}

func (l *Loops) printed(o *opened, src Source, system schedule.System) (schedule.Job, schedule.Printed, error) {
	job, err := l.job(o, src)
	if err != nil {
		return job, schedule.Printed{}, err
	}
	printed, err := schedule.Print(system, job)
	return job, printed, printRefused(err)
}

func printRefused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*schedule.CalendarError)):
		return &loop.Refusal{Code: CalendarRefused, Message: err.Error()}
	}
	return &loop.Refusal{Code: NotPrintable, Message: err.Error()}
}

// due is the next time of a rule; "" where there is none.
func due(r schedule.Rule, now time.Time) string {
	times, err := schedule.Parse(r)
	if err != nil {
		return ""
	}
	return when(times.Next(now, time.Local))
}

// schedulerRefused gives a scheduler's errors the words of loops.
func schedulerRefused(err error) error {
	code := SchedulerFailed
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*scheduler.Error)): // whatever else went wrong with it
	case errors.As(err, new(*scheduler.ChangedError)):
		code = ScheduleChanged
	case errors.As(err, new(*schedule.MarksError)):
		code = CrontabDamaged
	case errors.As(err, new(*scheduler.UnsupportedError)):
		code = SystemUnsupported
	}
	return &loop.Refusal{Code: code, Message: err.Error()}
}

// InstallSchedule tells a scheduler of a loop, then asks it what it has. Installing
// again brings it up to the definition. An error means that nothing was changed,
// or that what was is taken back.
func (l *Loops) InstallSchedule(ctx context.Context, q ScheduleRequest) (Schedule, error) {
	if by := l.by(q.Who); by.Inside != "" {
		return Schedule{}, insideRun("installing a schedule", by)
	}
	o, src, err := l.schedulable(ctx, q.Loop)
	if err != nil {
		return Schedule{}, err
	}
	defer o.close()
	if o.state.Control.Desired == loop.Stopped {
		return Schedule{}, &loop.Refusal{Code: loop.IsRetired, Message: "loop " + q.Loop + " is retired: it begins nothing any more"}
	}
	had, err := l.readNote(o.name, o.state.UID)
	if err != nil {
		had = nil // it is written anew
	}
	system := l.systemFor(ctx, q, had)
	if had != nil && had.System != system {
		return Schedule{}, &loop.Refusal{Code: ScheduledBySystem, Message: fmt.Sprintf("%s has loop %s: `spec-kitty loop schedule remove %s` first", had.System, q.Loop, q.Loop)}
	}
	job, printed, err := l.printed(o, src, system)
	if err != nil {
		return Schedule{}, err
	}
	to, changes, err := l.plan(ctx, o, system, printed.Units)
	if err != nil {
		return Schedule{}, err
	}
	if !q.DryRun {
		if err := o.install(ctx, to, changes, &note{Schema: ReportSchema, System: system, By: q.Who, At: l.now().UTC(), Job: job}, had); err != nil {
			return Schedule{}, err
		}
	}
	s, err := l.look(ctx, o, system, to)
	if err != nil {
		return Schedule{}, err
	}
	s.changes(changes)
	s.Notes = append(s.Notes, printed.Notes...)
	s.ReasonCode, s.Reason = code(q.DryRun, "dry_run", "installed"), code(q.DryRun, "nothing was changed", fmt.Sprintf("%s has loop %s: %s", system, q.Loop, s.State))
	if err := l.ground.Trusted(src); err != nil {
		s.Warnings = append(s.Warnings, Warning{"not_trusted", err.Error()})
	}
	return s, nil
}

// install notes what is about to be installed, then does it.
func (o *opened) install(ctx context.Context, to scheduler.Scheduler, changes []scheduler.Change, now, had *note) error {
	if err := o.l.writeNote(o.name, now); err != nil {
		return err
	}
	if err := to.Install(ctx, o.entry(), changes); err != nil {
		return errors.Join(schedulerRefused(err), o.l.writeNote(o.name, had))
	}
	return nil
}

func (o *opened) entry() scheduler.Entry { return scheduler.Entry{Loop: o.name, UID: o.state.UID} }

// systemFor is the scheduler that a request is about.
func (l *Loops) systemFor(ctx context.Context, q ScheduleRequest, has *note) schedule.System {
	switch {
	case q.System != "":
		return q.System
	case has != nil:
		return has.System
	}
	return l.schedulers.Usual(ctx)
}

func (l *Loops) plan(ctx context.Context, o *opened, system schedule.System, units []schedule.Unit) (scheduler.Scheduler, []scheduler.Change, error) {
	to, err := l.schedulers.Of(system, o.entry())
	if err != nil {
		return nil, nil, schedulerRefused(err)
	}
	changes, err := to.Plan(ctx, o.entry(), units)
	return to, changes, schedulerRefused(err)
}

func insideRun(what string, by loop.By) error {
	return &loop.Refusal{Code: loop.InsideRun, Message: what + " from inside a run (" + by.Inside + ") is not allowed"}
}
