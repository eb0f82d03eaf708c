package loop

import (
	"fmt"
	"time"
)

// ClaimLoop asks for the loop on behalf of a tick. What comes of it is in the
// events: Claimed, or Skipped with the reason, or a halt that became due. So one
// commit decides and records, and two ticks can never both be told yes.
type ClaimLoop struct {
	By
	Runner     Runner
	Definition *Definition
	Digest     string         // of the definition
	ByHand     bool           // fired by a person: not held against slots and gaps
	Zone       *time.Location // of the schedule's times
}

// Kind implements the commit core's Transition.
func (t ClaimLoop) Kind() string { return "claim" }

// Decide goes through the guards in the order of the skip reasons: what an
// operator decided comes first, then who else has the loop, then when, then how
// much. A refusal is an error; a skip is recorded.
func (t ClaimLoop) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if err := t.outside(NestedTick, "a tick"); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	firing := t.firing(s, now)
	stop, err := t.guards(d, firing)
	if err != nil {
		return nil, err
	}
	if stop != nil {
		d.emit(*stop)
	} else if d.s.Halt == nil {
		d.emit(t.claim(d, firing))
	}
	d.overdue(t.Definition)
	return d.events, nil
}

// guards says why nothing is claimed; with neither result the loop may be
// claimed, unless one of them has halted it.
func (t ClaimLoop) guards(d *draft, firing Firing) (*Skipped, error) {
	if code, detail := d.unwanted(); code != "" {
		return firing.skip(code, detail), nil
	}
	if code, detail := d.undecided(); code != "" {
		return firing.skip(code, detail), nil
	}
	if d.s.Halt != nil {
		return nil, nil // the request ran out just now
	}
	if c := d.s.Claim; c != nil {
		return firing.skip(SkipBusy, fmt.Sprintf("run %d is in phase %s; %s", c.Token, c.Phase, d.s.Standing(d.f, d.now()).Why)), nil
	}
	if err := t.refused(d); err != nil {
		return nil, err
	}
	if d.older() {
		return nil, nil
	}
	if d.granted() != nil && d.granted().Subject.Stage == ToLand {
		return nil, nil // the run is over but for its landing: neither time nor limits are in the way
	}
	if code, detail := t.early(d, firing); code != "" {
		return firing.skip(code, detail), nil
	}
	t.spent(d)
	return nil, nil
}

// older halts a loop whose repository keeps the result of a run that the state does not
// know: an older copy of the loop's folder was put back, and its counters, its grants
// and its tokens are those of then. The halt gives the tokens since for used.
func (d *draft) older() bool {
	if d.f.Kept <= d.s.Token {
		return false
	}
	d.halt(HaltOlderCopy, d.f.Kept, d.s.Older(d.f))
	return true
}

// Older says that the repository knows of later runs than the state; "" where it does
// not.
func (s State) Older(f Facts) string {
	if f.Kept <= s.Token {
		return ""
	}
	return fmt.Sprintf("the repository keeps a result of run %d, and the newest run on record is %d: an older copy of the loop's folder was put back, or an earlier loop of this name left it; what was counted, granted and spent since is not known here", f.Kept, s.Token)
}

// unwanted is why the operators, or the loop's own end, let nothing begin.
func (d *draft) unwanted() (Code, string) {
	switch s := d.s; {
	case s.Control.Desired == Stopped:
		return SkipRetired, ""
	case s.Control.Desired == Paused && s.Control.pauseOver(d.now()):
		d.emit(Resumed{Reason: "the pause was until " + stamp(s.Control.Until)})
	case s.Control.Desired == Paused:
		return SkipPaused, fmt.Sprintf("by %s: %s", s.Control.By, orNone(s.Control.Reason))
	}
	switch s := d.s; {
	case s.Halt != nil:
		return SkipHalted, string(s.Halt.Code)
	case s.Done != nil:
		return SkipDone, fmt.Sprintf("the goal was met by run %d", s.Done.Token)
	}
	return "", ""
}

// pauseOver tells whether a pause has ended by itself.
func (c Control) pauseOver(now time.Time) bool { return !c.Until.IsZero() && !now.Before(c.Until) }

// undecided looks at a request for approval: it still waits, ran out, or is
// about something that is no longer so.
func (d *draft) undecided() (Code, string) {
	a := d.s.Approval
	if a == nil || a.Decision == Denied {
		return "", ""
	}
	stale, why := a.stale(d.f)
	switch {
	case stale:
		d.emit(Voided{ID: a.ID, Why: why})
	case a.Decision == "" && !d.now().Before(a.Expires):
		d.halt(HaltExpired, a.Token, "nobody decided on request "+a.ID+" until "+stamp(a.Expires))
	case a.Decision == "":
		return SkipWaiting, "for a decision on request " + a.ID
	case d.f.Subject == nil:
		return SkipWaiting, "what was approved cannot be compared with what is there now"
	}
	return "", ""
}

// refused is what makes a claim an error: something is wrong, not merely early.
func (t ClaimLoop) refused(d *draft) error {
	for _, o := range d.s.Orphans {
		if d.f.Orphans[o.Token] != Gone {
			return orphanAlive(o, d.f.Orphans[o.Token])
		}
		d.emit(Buried{Token: o.Token})
	}
	switch {
	case d.f.Shared != "":
		return shared(d.f.Shared)
	case d.f.Definition != t.Digest:
		return refuse(DefinitionMoved, "the definition was changed while this tick read it: tick again")
	}
	return nil
}

func orphanAlive(o Orphan, l Liveness) error {
	what := "still runs"
	if l == Unknown {
		what = "may still run (what runs there cannot be told from another process)"
	}
	return refuse(OrphanAlive, "process group %d of run %d on %s %s: two runs in one worktree would spoil each other; end it, or see spec-kitty help loops-recover",
		o.Group.ID, o.Token, o.Runner.Host, what)
}

// early is why it is not the time yet.
func (t ClaimLoop) early(d *draft, firing Firing) (Code, string) {
	now, last := d.now(), d.s.Last
	switch {
	case d.s.backsOff(now):
		return SkipBackoff, "until " + stamp(last.NotBefore)
	case firing.Seen:
		return SkipSlotSeen, "of " + firing.Slot.Format(time.RFC3339)
	case firing.Late:
		return SkipSlotMissed, "of " + firing.Slot.Format(time.RFC3339)
	case t.ByHand:
		return "", ""
	}
	if gap := now.Sub(last.Attempt); gap >= 0 && gap < t.Definition.Schedule.MinGap {
		return SkipMinGap, fmt.Sprintf("the newest claim is %v old", rounded(gap))
	}
	return "", ""
}

// granted is the approval that a claim would use up.
func (d *draft) granted() *Approval {
	if a := d.s.Approval; a != nil && a.Decision == Approved {
		return a
	}
	return nil
}

func (t ClaimLoop) claim(d *draft, firing Firing) Claimed {
	e := Claimed{
		Token: d.s.Token + 1, Runner: t.Runner, Definition: t.Digest, Rules: t.Definition.Rules(),
		Slot: firing.Slot, Missed: firing.Missed,
	}
	if a := d.granted(); a != nil {
		e.Grant = &Grant{ID: a.ID, Token: a.Token, Subject: a.Subject, By: a.By}
	}
	return e
}

// overdue makes the notice due that no run has succeeded for too long, once
// until one does. While nothing is to run there is nothing to tell.
func (d *draft) overdue(def *Definition) {
	if d.s.Overdue(def.Notify.OverdueAfter, d.now()) && d.s.Last.Overdue.IsZero() && d.s.Control.Desired == Active && d.s.Done == nil {
		d.notice(d.s.Token, OnOverdue, "no success since "+stamp(d.s.succeeded()))
	}
}

// Overdue tells whether the newest success, or the creation, is longer ago than
// was promised; never with no promise (0).
func (s State) Overdue(after time.Duration, now time.Time) bool {
	return after > 0 && now.Sub(s.succeeded()) > after
}

func (s State) succeeded() time.Time {
	if s.Last.Success.IsZero() {
		return s.Created
	}
	return s.Last.Success
}
