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

// shownAsItIs refuses a crontab that would not be written back as it is. Debian's
// crontab -l shows a carriage return and a backspace as \r and \b. Only where such
// letters stand is the file itself looked at, which an editor is given.
func (c cron) shownAsItIs(ctx context.Context, text string) error {
	if !strings.Contains(text, `\r`) && !strings.Contains(text, `\b`) {
		return nil
	}
	r := c.h.Run(ctx, "", "env", "VISUAL=cat", "EDITOR=cat", "crontab", "-e")
	if r.Err == nil && r.Exit == 0 && strings.Contains(r.Stdout, text) {
		return nil
	}
	return &Error{System: schedule.Cron, Doing: "read the crontab as it is", Why: `crontab -l shows \r or \b, which may stand for control characters, as of Windows' line ends: they would be written back as letters; take them out (crontab -e), then try again`}
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
	if err := c.shownAsItIs(ctx, text); err != nil {
		return nil, err
	}
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
	for _, change := range changes {
		if err := c.takesBack(ctx, change.Before); err != nil {
			return err
		}
	}
	return c.apply(ctx, changes)
}

// takesBack refuses a crontab that could not be put back to the byte: one whose last line
// has no end, where crontab takes no such file. It was put into its place by hand, past
// crontab; Debian's cron ignores it whole, so that to end its line would set lines going
// that do not run now. Writing the same bytes changes nothing where they are taken.
func (c cron) takesBack(ctx context.Context, before *string) error {
	text := orEmpty(before)
	if text == "" || strings.HasSuffix(text, "\n") {
		return nil
	}
	err := failed(schedule.Cron, "write the crontab as it is (crontab -)", c.h.Run(ctx, text, "crontab", "-"))
	if err == nil {
		return nil
	}
	return &Error{System: schedule.Cron, Doing: "add to a crontab whose last line has no end", Why: "crontab would not take it back as it is, and cron may ignore all of it; nothing was changed: look at its lines and end the last one (crontab -e), then install again: " + err.Error()}
}

// Remove implements Scheduler.
func (c cron) Remove(ctx context.Context, _ Entry, changes []Change) error {
	return c.apply(ctx, changes)
}

func (c cron) apply(ctx context.Context, changes []Change) error {
	for i, change := range changes {
		now, err := c.read(ctx)
		if err != nil {
			return err
		}
		if !(Change{Before: change.Before, After: now}).same() {
			return &ChangedError{"the crontab"}
		}
		if change.After, err = c.write(ctx, change.After); err != nil {
			return err
		}
		changes[i] = change // as it was taken
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

// write gives the crontab as it was taken. One that was edited past crontab since we
// were added may have a last line without an end, which some crontabs do not take back:
// our part is taken out all the same.
func (c cron) write(ctx context.Context, text *string) (*string, error) {
	if text == nil {
		return nil, failed(schedule.Cron, "remove the crontab, which is empty (crontab -r)", c.h.Run(ctx, "", "crontab", "-r"))
	}
	err := failed(schedule.Cron, "write the crontab (crontab -)", c.h.Run(ctx, *text, "crontab", "-"))
	if ended := *text + "\n"; err != nil && !strings.HasSuffix(*text, "\n") {
		if r := c.h.Run(ctx, ended, "crontab", "-"); r.Err == nil && r.Exit == 0 {
			return &ended, nil
		}
	}
	return text, err
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
