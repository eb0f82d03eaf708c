package tick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spec-kitty/step-runner/host/command"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// The verbs of operators. Each is one transition, whose condition is what the
// person saw, and touches its own fields only: it answers at once while a run is
// at work, and no run's end undoes it.

// act commits one transition on a loop.
func (l *Loops) act(ctx context.Context, name string, t transition, code string, reason func(o *opened) string) (Report, error) {
	o, err := l.open(ctx, name)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	out, err := o.commit(ctx, t)
	if err != nil {
		return Report{}, err
	}
	if !out.Committed {
		code = "already"
	}
	report := o.report(Done, code, reason(o))
	report.warn(out.Warnings)
	return report, nil
}

// PauseRequest asks for a pause.
type PauseRequest struct {
	Loop, Who, Reason string
	Until             time.Time // zero: until it is resumed
	Now               bool      // the run that is at work is to end as canceled
	Wait              bool      // until the run that is at work has ended
}

// Pause lets no further run begin.
func (l *Loops) Pause(ctx context.Context, q PauseRequest) (Report, error) {
	report, err := l.act(ctx, q.Loop, loop.Pause{By: l.by(q.Who), Reason: q.Reason, Until: q.Until, Now: q.Now}, "paused", func(o *opened) string {
		if c := o.state.Claim; c != nil {
			return fmt.Sprintf("paused; run %d is at work and %s", c.Token, code(q.Now, "is to end as canceled", "goes on to its end"))
		}
		return "paused"
	})
	if err == nil && q.Wait {
		err = l.wait(ctx, q.Loop)
	}
	return report, err
}

// wait returns when the claim that the loop has now is over.
func (l *Loops) wait(ctx context.Context, name string) error {
	var token uint64
	for {
		o, err := l.open(ctx, name)
		if err != nil {
			return err
		}
		c := o.state.Claim
		o.close()
		if c == nil || token != 0 && c.Token != token {
			return nil
		}
		token = c.Token
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

// Resume ends a pause.
func (l *Loops) Resume(ctx context.Context, name, who, reason string) (Report, error) {
	return l.act(ctx, name, loop.Resume{By: l.by(who), Reason: reason}, "resumed", func(*opened) string { return "resumed" })
}

// Approve grants the request of an id.
func (l *Loops) Approve(ctx context.Context, name, who, id, note string) (Report, error) {
	return l.act(ctx, name, loop.Approve{By: l.by(who), ID: id, Note: note}, "approved", func(*opened) string {
		return "request " + id + " is approved: the next tick goes on with it"
	})
}

// Deny refuses the request of an id: the loop halts.
func (l *Loops) Deny(ctx context.Context, name, who, id, note string) (Report, error) {
	return l.act(ctx, name, loop.Deny{By: l.by(who), ID: id, Note: note}, "denied", func(*opened) string {
		return "request " + id + " is denied: the loop is halted"
	})
}

// Clear takes a halt away, by the code that the person saw.
func (l *Loops) Clear(ctx context.Context, name, who, halt, reason string, reset bool) (Report, error) {
	return l.act(ctx, name, loop.Clear{By: l.by(who), Code: loop.Halting(halt), Reset: reset, Reason: reason}, "cleared", func(*opened) string {
		return halt + " is cleared"
	})
}

// Check asks a loop's gate, and changes nothing: neither lock nor file. A gate that
// asks for itself is refused: it would go round for ever.
func (l *Loops) Check(ctx context.Context, name string) (Report, error) {
	if by := l.by(""); by.Inside != "" && l.getenv("SPEC_KITTY_LOOP") == name && l.getenv("SPEC_KITTY_LOOP_PART") == "gate" {
		return Report{}, insideRun("asking a gate", by)
	}
	o, err := l.open(ctx, name)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	src, err := l.ground.Source(name)
	if err != nil {
		return Report{}, err
	}
	if err := l.ground.Trusted(src); err != nil {
		return Report{}, err
	}
	if src.Gate == nil {
		return o.report(Done, "gate_open", "the loop has no gate: it is always open"), nil
	}
	r := &running{opened: o, uid: o.state.UID, src: src}
	j, err := r.ask(ctx, "gate", *src.Gate, l.ground.Root, nil)
	if err != nil {
		return Report{}, err
	}
	switch j.Verdict {
	case command.Allow:
		return o.report(Done, "gate_open", j.Detail), nil
	case command.Refuse:
		return o.report(Skipped, string(loop.SkipGate), j.Detail), nil
	}
	return o.report(Failed, loop.WhyGate, j.Detail), nil
}

// Diff is what a loop would land: the pending request's result, else the newest
// result that did not land.
func (l *Loops) Diff(ctx context.Context, name string) (from, to, text string, err error) {
	o, err := l.open(ctx, name)
	if err != nil {
		return "", "", "", err
	}
	defer o.close()
	src, err := l.ground.Source(name)
	if err != nil {
		return "", "", "", err
	}
	head, err := l.repo.Branch(ctx, src.Worktree.Branch)
	if errors.As(err, new(*worktree.NotFoundError)) {
		head, err = l.repo.Resolve(ctx, src.Worktree.Base)
	}
	if err != nil {
		return "", "", "", err
	}
	to = head.ID
	if a := o.state.Approval; a != nil && a.Subject.Stage == loop.ToLand {
		to = a.Subject.Result
	} else if kept, err := l.repo.Kept(ctx, name, src.Worktree.Branch); err != nil {
		return "", "", "", err
	} else if len(kept) > 0 {
		to = kept[len(kept)-1].Commit
	}
	text, err = l.repo.Diff(ctx, head.ID, to)
	return head.ID, to, text, err
}

// Beat takes what a run tells of itself, from inside of it.
func (l *Loops) Beat(told Told) (Report, error) {
	report := Report{Schema: ReportSchema, Loop: l.getenv("SPEC_KITTY_LOOP"), Outcome: Done, ReasonCode: "told", Warnings: []Warning{}}
	file := l.getenv("SPEC_KITTY_LOOP_USAGE")
	if file == "" {
		return report, &loop.Refusal{Code: loop.NoClaim, Message: "this is not the inside of a run: SPEC_KITTY_LOOP_USAGE is not set"}
	}
	if _, err := told.usage(); err != nil {
		return report, &loop.Refusal{Code: loop.BadRequest, Message: err.Error()}
	}
	return report, mergeUsage(file, told)
}

// NothingWaiting is the refusal of a decision where nothing is asked.
func NothingWaiting() error {
	return &loop.Refusal{Code: loop.NothingWaiting, Message: "no request is open: none was made, or it was decided"}
}

// Parts are the programs of a run, in the order in which they run. Each has a log
// in the run's folder.
func Parts() []string { return []string{"gate", "setup", "work", "verify", "goal"} }

// logSuffix ends the name of such a log, which begins with the part's.
const logSuffix = ".log"

// Log visits a loop's history, oldest first, also where it holds what only a newer
// version understands.
func (l *Loops) Log(ctx context.Context, name string, from uint64, visit func(commit.Record[loop.Event]) error) error {
	o, err := l.found(ctx, name)
	if err != nil {
		return err
	}
	defer o.close()
	return named(name, o.store.Records(ctx, from, visit))
}

// RunDir is the folder of one run; ok is false where it is not there any more.
func (l *Loops) RunDir(name string, token uint64) (path string, ok bool) {
	path = l.runDir(name, token)
	_, err := os.Stat(path)
	return path, err == nil
}

// PartLog is what a program of a run wrote behind its first from bytes; nothing where
// it has no log, or none that can be read.
func (l *Loops) PartLog(name string, token uint64, part string, from int64) []byte {
	root, err := os.OpenRoot(l.runDir(name, token))
	if err != nil {
		return nil
	}
	defer root.Close()
	f, info, err := readonly.Open(root, part+logSuffix)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil
	}
	return text
}
