package scheduler

import (
	"context"
	"strings"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// cron is the user's crontab. It is read and written whole: there is no other way.
type cron struct{ h *Host }

// crontabPath stands for the crontab in changes.
const crontabPath = "crontab"

// read gives the whole crontab. Only the words "no crontab" mean that there is
// none; whatever else goes wrong must not lead to a crontab without its lines.
func (c cron) read(ctx context.Context) (*string, error) {
	r := c.h.Run(ctx, "", "crontab", "-l")
	err := failed(schedule.Cron, "read the crontab (crontab -l)", r)
	if err == nil {
		return &r.Stdout, nil
	}
	if r.Err == nil && r.Stdout == "" && strings.Contains(strings.ToLower(r.Stderr), "no crontab") {
		return nil, nil
	}
	return nil, err
}

// Look implements Scheduler. A crontab does not say when a line is due next.
func (c cron) Look(ctx context.Context, e Entry) (Found, error) {
	all, err := c.read(ctx)
	if err != nil || all == nil {
		return Found{}, err
	}
	part, err := schedule.Installed(*all, e.UID)
	if err != nil || part == "" {
		return Found{}, err
	}
	return Found{Units: []schedule.Unit{{Name: crontabPath, Text: part}}, Active: true, State: "in the crontab; whether cron runs, it does not say"}, nil
}

// Plan implements Scheduler.
func (c cron) Plan(ctx context.Context, e Entry, units []schedule.Unit) ([]Change, error) {
	before, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	text := orEmpty(before)
	if len(units) > 0 {
		text, err = schedule.Insert(text, units[0].Text)
	} else {
		text, err = schedule.Remove(text, e.UID)
	}
	if err != nil {
		return nil, err
	}
	change := Change{Path: crontabPath, Before: before, After: &text}
	if text == "" {
		change.After = nil // as there was none before we came
	}
	if change.same() || text == orEmpty(before) {
		return nil, nil
	}
	return []Change{change}, nil
}

// Install implements Scheduler.
func (c cron) Install(ctx context.Context, _ Entry, changes []Change) error {
	return c.apply(ctx, changes)
}

// Remove implements Scheduler.
func (c cron) Remove(ctx context.Context, _ Entry, changes []Change) error {
	return c.apply(ctx, changes)
}

func (c cron) apply(ctx context.Context, changes []Change) error {
	for _, change := range changes {
		now, err := c.read(ctx)
		if err != nil {
			return err
		}
		if !(Change{Before: change.Before, After: now}).same() {
			return &ChangedError{"the crontab"}
		}
		if err := c.write(ctx, change.After); err != nil {
			return err
		}
		now, err = c.read(ctx)
		if err != nil {
			return err
		}
		if orEmpty(now) != orEmpty(change.After) {
			return &Error{System: schedule.Cron, Doing: "read the crontab back", Why: "it is not what was written: somebody changed it in the same moment, or crontab did; look at it (crontab -l)"}
		}
	}
	return nil
}

func (c cron) write(ctx context.Context, text *string) error {
	if text == nil {
		return failed(schedule.Cron, "remove the crontab, which is empty (crontab -r)", c.h.Run(ctx, "", "crontab", "-r"))
	}
	return failed(schedule.Cron, "write the crontab (crontab -)", c.h.Run(ctx, *text, "crontab", "-"))
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
