package loop

import (
	"fmt"
	"time"
)

// Status is what a loop is shown as.
type Status string

// The statuses, in the order in which the first that fits is shown. Untracked
// and broken are found by who reads the state.
const (
	StatusBroken    Status = "broken"
	StatusUntracked Status = "untracked"
	StatusLost      Status = "lost"
	StatusStopping  Status = "stopping"
	StatusPausing   Status = "pausing"
	StatusRunning   Status = "running"
	StatusRetired   Status = "retired"
	StatusHalted    Status = "halted"
	StatusWaiting   Status = "waiting"
	StatusPaused    Status = "paused"
	StatusBackoff   Status = "backoff"
	StatusDone      Status = "done"
	StatusReady     Status = "ready"
)

// Shown is a loop's status with why it is believed and what happens next: a
// command, or what the next tick does.
type Shown struct {
	Status  Status
	Why     string
	Next    string
	Warning string // a clock that cannot be right
}

// Shown tells a loop's status.
func (s State) Shown(f Facts, now time.Time) Shown {
	if s.Claim != nil {
		return s.claimShown(s.Standing(f, now), now)
	}
	c := s.Control
	switch {
	case c.Desired == Stopped:
		return Shown{Status: StatusRetired, Why: "by " + c.By + ": " + orNone(c.Reason), Next: s.command("remove")}
	case s.Halt != nil:
		return Shown{Status: StatusHalted, Why: s.Halt.text(), Next: s.command("clear", s.Halt.clearing()...)}
	case s.Approval != nil && s.Approval.Decision == "":
		return s.waitingShown(f, now)
	case c.Desired == Paused && !c.pauseOver(now):
		return s.pausedShown()
	case s.backsOff(now):
		return Shown{Status: StatusBackoff, Why: s.failures(),
			Next: "ticks skip until " + stamp(s.Last.NotBefore) + "; " + s.command("clear", "--code", string(BackoffCode)) + " has the next one go on"}
	case s.Done != nil:
		return Shown{Status: StatusDone, Why: fmt.Sprintf("the goal was met by run %d", s.Done.Token), Next: s.command("clear", "--code", string(DoneCode))}
	}
	return s.readyShown()
}

func (s State) claimShown(standing Standing, now time.Time) Shown {
	c := s.Claim
	shown := Shown{Status: StatusRunning, Next: "the run goes on to its end", Warning: standing.Warning,
		Why: fmt.Sprintf("run %d is in phase %s since %s; %s", c.Token, c.Phase, stamp(c.Since), standing.Why)}
	switch {
	case standing.Over:
		shown.Status, shown.Next = StatusLost, "the next tick takes the loop over; or "+s.command("recover")
	case s.Control.Cancel == c.Token:
		shown.Next = "the run ends as canceled"
	}
	switch {
	case standing.Over:
	case s.Control.Desired == Stopped:
		shown.Status = StatusStopping
	case s.Control.Desired == Paused && !s.Control.pauseOver(now):
		shown.Status = StatusPausing
	}
	return shown
}

func (s State) waitingShown(f Facts, now time.Time) Shown {
	a := s.Approval
	shown := Shown{Status: StatusWaiting, Why: fmt.Sprintf("run %d asks whether to %s, request %s", a.Token, a.Subject.Stage, a.ID),
		Next: s.command("approve") + " shows what is asked; until " + stamp(a.Expires)}
	if stale, why := a.stale(f); stale {
		shown.Next = why + ": the next tick asks anew"
	} else if !now.Before(a.Expires) {
		shown.Next = "its time is over: the next tick halts the loop"
	}
	return shown
}

func (s State) pausedShown() Shown {
	shown := Shown{Status: StatusPaused, Why: "by " + s.Control.By + ": " + orNone(s.Control.Reason), Next: s.command("resume")}
	if !s.Control.Until.IsZero() {
		shown.Next += ", or by itself at " + stamp(s.Control.Until)
	}
	return shown
}

func (s State) readyShown() Shown {
	shown := Shown{Status: StatusReady, Why: "nothing is in the way", Next: "the next tick begins a run"}
	switch a := s.Approval; {
	case len(s.Orphans) > 0:
		shown.Why = fmt.Sprintf("run %d left processes that may still run", s.Orphans[0].Token)
		shown.Next = "ticks wait for them; " + s.command("recover")
	case a != nil && a.Decision == Approved:
		shown.Why = "request " + a.ID + " was approved by " + a.By
		shown.Next = "the next tick goes on to " + string(a.Subject.Stage)
	}
	return shown
}

// backsOff tells whether the loop rests after failures. A time further ahead than any
// backoff reaches was recorded before the clock was set back.
func (s State) backsOff(now time.Time) bool {
	return now.Before(s.Last.NotBefore) && s.Last.NotBefore.Sub(now) <= maxBackoff
}

func (s State) failures() string {
	text := fmt.Sprintf("%d failures in a row", s.Count.Failures)
	if s.Last.Run != nil {
		text += ", the newest: " + s.Last.Run.text()
	}
	return text
}

func (h Halt) text() string {
	if h.Detail == "" {
		return string(h.Code)
	}
	return string(h.Code) + ": " + h.Detail
}

// clearing are the arguments of the clear that lets the loop go on. A counter at its
// limit would halt it again, so it begins anew.
func (h Halt) clearing() []string {
	args := []string{"--code", string(h.Code)}
	switch h.Code {
	case HaltRuns, HaltCost, HaltTokens, HaltTime:
		args = append(args, "--reset")
	}
	return args
}

// command is a call of the program on this loop.
func (s State) command(verb string, args ...string) string {
	text := "spec-kitty loop " + verb + " " + s.Name
	for _, arg := range args {
		text += " " + arg
	}
	return text
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
