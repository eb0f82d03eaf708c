package tick

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/loop"
)

// notifyTimeout bounds one call of the notify command.
const notifyTimeout = 30 * time.Second

// notice is what the notify command gets on its standard input.
type notice struct {
	Schema int           `json:"schema"`
	Loop   string        `json:"loop"`
	Key    string        `json:"key"` // the same notice sent twice has the same key
	On     loop.Occasion `json:"on"`
	Detail string        `json:"detail"`
	At     string        `json:"at"`
	Root   string        `json:"root"`
}

// notify sends the notices that are due, also those that an earlier tick died
// before sending. Sending comes before the record of it: a notice may be sent
// twice, by the same key, and is never lost. One that cannot be sent stays due.
func (o *opened) notify(ctx context.Context, by loop.By, src Source, report *Report) {
	var sent []string
	for _, due := range o.state.Due {
		if !slices.Contains(src.Notify.On, due.On) || len(src.Notify.Run) == 0 {
			sent = append(sent, due.Key) // nobody wants it
			continue
		}
		if err := o.send(ctx, src, due); err != nil {
			report.Warnings = append(report.Warnings, Warning{"notice_not_sent", err.Error()})
			break // in their order
		}
		sent = append(sent, due.Key)
	}
	if len(sent) == 0 {
		return
	}
	if _, err := o.commit(ctx, loop.MarkSent{By: by, Keys: sent}); err != nil {
		report.Warnings = append(report.Warnings, Warning{"notice_not_recorded", "notices were sent, and will be sent again: " + err.Error()})
	}
	report.Revision = o.state.Revision
	o.l.hook(PointNotified)
}

func (o *opened) send(ctx context.Context, src Source, due loop.Notice) error {
	if err := o.l.same(src); err != nil {
		return fmt.Errorf("notice %s was not sent: %w", due.Key, err)
	}
	raw, err := json.Marshal(notice{Schema: ReportSchema, Loop: o.name, Key: due.Key, On: due.On, Detail: due.Detail, At: due.At.UTC().Format(time.RFC3339), Root: o.l.ground.Root})
	if err != nil {
		return err
	}
	env := o.l.environ(src.Work.PassEnv, map[string]string{"SPEC_KITTY_LOOP": o.name, "SPEC_KITTY_LOOP_PART": "notify", "SPEC_KITTY_ROOT": o.l.ground.Root,
		noticeVariable: noticeMark(o.state.UID, due.Key)})
	done := command.Run(ctx, command.Command{
		Name: "notify", Argv: src.argv(src.Notify.Run), Dir: filepath.Dir(src.File), Env: env, Stdin: append(raw, '\n'), Timeout: notifyTimeout,
		Session: true, Started: func(p command.Process) error { return o.sending(p, due.Key) },
	})
	o.sent()
	if done.Verdict() != command.Allow {
		return fmt.Errorf("notice %s: notify: %s %s", due.Key, done, lastLine(string(done.Stderr.Kept)))
	}
	return nil
}
