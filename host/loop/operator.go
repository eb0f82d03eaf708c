package loop

import (
	"fmt"
	"time"
)

// Pause lets no further run begin. A run that is at work goes on to its end,
// unless Now: then it is to end as canceled, by its token.
type Pause struct {
	By
	Reason string
	Until  time.Time // the pause ends by itself; zero: it does not
	Now    bool
}

// Kind implements the commit core's Transition.
func (t Pause) Kind() string { return "pause" }

// Decide pauses; a further pause says anew who, why and until when.
func (t Pause) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(InsideRun, "pausing"); err != nil {
		return nil, err
	}
	switch {
	case s.Control.Desired == Stopped:
		return nil, refuse(IsRetired, "the loop was retired by %s: it begins nothing any more", s.Control.By)
	case !t.Until.IsZero() && !now.Before(t.Until):
		return nil, refuse(BadRequest, "--until %s is over", stamp(t.Until))
	}
	return []Event{PauseSet{Reason: t.Reason, Until: t.Until, Cancel: cancel(s, t.Now)}}, nil
}

// cancel is the token whose run is to end; 0 for none.
func cancel(s State, wanted bool) uint64 {
	if !wanted || s.Claim == nil {
		return 0
	}
	return s.Claim.Token
}

// Resume ends a pause. It does not take a cancel back.
type Resume struct {
	By
	Reason string
}

// Kind implements the commit core's Transition.
func (t Resume) Kind() string { return "resume" }

// Decide ends the pause.
func (t Resume) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(SelfApproval, "resuming"); err != nil {
		return nil, err
	}
	switch {
	case s.Halt != nil:
		return nil, refuse(IsHalted, "the loop is halted (%s), which a resume does not end: clear it with its code", s.Halt.Code)
	case s.Control.Desired == Stopped:
		return nil, refuse(IsRetired, "the loop was retired by %s, for good", s.Control.By)
	case s.Control.Desired != Paused:
		return nil, refuse(NotPaused, "the loop is not paused")
	}
	return []Event{Resumed{Reason: t.Reason}}, nil
}

// Clear takes a halt away, or the goal's having been met, so that the loop may
// go on. It names the code that the person saw.
type Clear struct {
	By
	Code   Halting
	Reset  bool // the counters begin anew, but for totals
	Reason string
}

// Kind implements the commit core's Transition.
func (t Clear) Kind() string { return "clear" }

// Decide clears what was seen, and nothing that came after.
func (t Clear) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(SelfApproval, "clearing"); err != nil {
		return nil, err
	}
	code := s.HaltCode()
	switch {
	case code == "" && t.Code == BackoffCode && s.backsOff(now):
		code = BackoffCode
	case code == "":
		return nil, refuse(NotHalted, "the loop is neither halted nor done")
	case code != t.Code:
		return nil, refuse(HaltChanged, "the loop is halted as %s, not as %q: look at why, then clear that code", code, t.Code)
	}
	return []Event{Cleared{Code: code, Reset: t.Reset, Reason: t.Reason}}, nil
}

// HaltCode is the code that clear must name; "" where nothing is to be cleared.
func (s State) HaltCode() Halting {
	switch {
	case s.Halt != nil:
		return s.Halt.Code
	case s.Done != nil:
		return DoneCode
	}
	return ""
}

// Retire ends the loop for good: it begins nothing any more. What is at work
// goes on to its end, unless Now.
type Retire struct {
	By
	Reason string
	Now    bool
}

// Kind implements the commit core's Transition.
func (t Retire) Kind() string { return "retire" }

// Decide retires. No events: that was done.
func (t Retire) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(InsideRun, "retiring"); err != nil {
		return nil, err
	}
	token := cancel(s, t.Now)
	if s.Control.Desired == Stopped && (token == 0 || s.Control.Cancel == token) {
		return nil, nil
	}
	return []Event{RetireSet{Reason: t.Reason, Cancel: token}}, nil
}

// Remove is the last transition of a retired loop. Its folder goes after it.
type Remove struct {
	By
	Force bool // also where commits of runs lie on no branch
}

// Kind implements the commit core's Transition.
func (t Remove) Kind() string { return "remove" }

// Decide wants a loop that nothing belongs to any more.
func (t Remove) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(InsideRun, "removing"); err != nil {
		return nil, err
	}
	switch {
	case s.Control.Desired != Stopped:
		return nil, refuse(NotRetired, "only a retired loop is removed: retire it first")
	case s.Claim != nil && s.Standing(f, now).Over:
		// A landing that cannot be finished, as its branch cannot be moved, is given up.
		if t.Force && s.Claim.Phase == InLanding {
			break
		}
		return nil, refuse(ClaimLive, "run %d died in phase %s: `%s` ends it first; a landing that cannot be finished --force gives up", s.Claim.Token, s.Claim.Phase, s.command("recover"))
	case s.Claim != nil:
		return nil, refuse(ClaimLive, "run %d has the loop (phase %s): wait for its end, or retire with --now", s.Claim.Token, s.Claim.Phase)
	}
	for _, o := range s.Orphans {
		if f.Orphans[o.Token] != Gone {
			return nil, orphanAlive(o, f.Orphans[o.Token])
		}
	}
	if len(f.Unlanded) > 0 && !t.Force {
		return nil, refuse(Unlanded, "%s: merge what is wanted; --force gives the rest up", unlanded(f.Unlanded))
	}
	return []Event{Removed{Forced: len(f.Unlanded) > 0}}, nil
}

func unlanded(commits []string) string {
	if len(commits) == 1 {
		return "commit " + commits[0] + " of a run lies on no branch"
	}
	return fmt.Sprintf("%d commits of runs lie on no branch, the first %s", len(commits), commits[0])
}

// MarkSent says that notices were sent.
type MarkSent struct {
	By
	Keys []string
}

// Kind implements the commit core's Transition.
func (t MarkSent) Kind() string { return "notify" }

// Decide takes the notices off the list. No events: they are off.
func (t MarkSent) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	var keys []string
	for _, n := range s.Due {
		for _, key := range t.Keys {
			if n.Key == key {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return []Event{Sent{Keys: keys}}, nil
}
