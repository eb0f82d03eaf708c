//go:build linux || darwin

package torture

import (
	"context"
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/tick"
)

// loopName is the loop that is tormented. Its work leaves a commit, a person is asked
// before that lands.
const loopName = "deps"

func (l *living) loops() *tick.Loops {
	return l.project.Loops(tick.Options{Hook: l.hook, Commit: commit.Options{Hook: l.hook}})
}

// stepLoop looks how the loop stands and does what its operator would do, or fires it.
func (l *living) stepLoop() error {
	s, err := l.loops().Status(context.Background(), loopName)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	l.make(l.chooseForLoop(s))
	return nil
}

// chooseForLoop mostly does what makes the loop go on, sometimes what stops it, and
// sometimes what fits another moment.
func (l *living) chooseForLoop(s tick.Status) call {
	c := goesOn(s)
	switch dice := l.rng.IntN(50); {
	case dice == 1:
		c = call{Op: "pause"}
	case dice == 2:
		c = call{Op: "pause", To: "now"}
	case dice == 3:
		c = call{Op: "recover"}
	case dice == 4:
		c = call{Op: "resume"}
	case dice == 5 && s.Approval != nil:
		c = call{Op: "approve", Decision: s.Approval.ID}
	case dice < 15 && c.Op == "approve":
		c.Op = "deny"
	case dice < 20:
		c = call{Op: "tick"}
	}
	c.Reason = fmt.Sprintf("%s %x %d", l.Agent, l.Seed, l.n)
	return c
}

// goesOn is the call that makes a loop go on.
func goesOn(s tick.Status) call {
	switch {
	case s.Halt != nil:
		return call{Op: "clear", Value: s.Halt.Code}
	case s.Control == "paused":
		return call{Op: "resume"}
	case s.Status == "backoff":
		return call{Op: "clear", Value: string(loop.BackoffCode)}
	case s.Approval != nil && s.Approval.State == "open":
		return call{Op: "approve", Decision: s.Approval.ID}
	}
	return call{Op: "tick"}
}

// loopCall makes one of its calls: tick, pause, resume, recover, clear, approve or deny.
func (l *living) loopCall(c call) (told, error) {
	r, err := c.on(l.loops(), l.Agent)
	if refused, ok := tick.Refusal(loopName, err); ok && errors.As(err, new(*loop.Refusal)) {
		return told{Code: refused.ReasonCode}, nil // nothing is on record of it
	}
	end := told{Run: loopName, Revision: r.Revision, Code: r.ReasonCode, Recorded: err == nil}
	if r.Token != nil {
		end.Claim = *r.Token
	}
	switch {
	case c.Op == "recover", r.ReasonCode == "already", r.Outcome == tick.Skipped, r.Outcome == tick.Lost, r.Outcome == tick.Refused:
		end.Recorded = false // by this call
	}
	return end, err
}

// on makes the call on the loop.
func (c call) on(all *tick.Loops, who string) (tick.Report, error) {
	ctx := context.Background()
	switch c.Op {
	case "pause":
		return all.Pause(ctx, tick.PauseRequest{Loop: loopName, Who: who, Reason: c.Reason, Now: c.To == "now"})
	case "resume":
		return all.Resume(ctx, loopName, who, c.Reason)
	case "recover":
		return all.Recover(ctx, tick.RecoverRequest{Loop: loopName, Who: who})
	case "clear":
		return all.Clear(ctx, loopName, who, c.Value, c.Reason, true)
	case "approve":
		return all.Approve(ctx, loopName, who, c.Decision, c.Reason)
	case "deny":
		return all.Deny(ctx, loopName, who, c.Decision, c.Reason)
	}
	return all.Tick(ctx, tick.Request{Loop: loopName, Who: who, ByHand: true})
}
