package tick

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// Status is how a loop stands, why that is believed, and what happens next.
type Status struct {
	Loop      string     `json:"loop"`
	Status    string     `json:"status"`
	Why       string     `json:"why"`
	Next      string     `json:"next"`
	Flags     []string   `json:"flags"` // overdue; by what was installed: unscheduled, drift
	UID       string     `json:"uid"`
	Revision  uint64     `json:"revision"`
	Token     uint64     `json:"token"` // the newest; 0: none was given yet
	Claim     *ClaimRow  `json:"claim"`
	Approval  *Approval  `json:"approval"`
	Halt      *HaltRow   `json:"halt"`
	Control   string     `json:"control"`
	Count     loop.Count `json:"count"`
	LastRun   string     `json:"last_run"` // how the newest run ended; "" for none
	Detail    string     `json:"last_detail"`
	LastSkip  string     `json:"last_skip"`
	Success   string     `json:"last_success"` // time of the newest; "" for none
	NotBefore string     `json:"not_before"`
	Due       int        `json:"notices_due"`
	Warnings  []Warning  `json:"warnings"`
}

// ClaimRow is the run that is at work.
type ClaimRow struct {
	Token    uint64 `json:"token"`
	Phase    string `json:"phase"`
	Since    string `json:"since"`
	Host     string `json:"host"`
	PID      int    `json:"pid"`
	Progress string `json:"progress"` // what the run told of itself
}

// Approval is a request that a person decides on.
type Approval struct {
	ID      string       `json:"id"`
	Token   uint64       `json:"token"`
	Subject loop.Subject `json:"subject"`
	Digest  string       `json:"digest"` // of the subject
	Asked   string       `json:"asked"`
	Expires string       `json:"expires"`
	State   string       `json:"state"` // open, approved, denied
	By      string       `json:"by"`
}

// HaltRow is why a loop is halted.
type HaltRow struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Token  uint64 `json:"token"`
	At     string `json:"at"`
}

// Status gives a loop's status. It takes no lock and writes nothing. A loop that is
// damaged has the status broken and an error; one that is not there is untracked.
func (l *Loops) Status(ctx context.Context, name string) (Status, error) {
	s := Status{Loop: name, Flags: []string{}, Warnings: []Warning{}}
	o, err := l.open(ctx, name)
	switch {
	case gone(err):
		s.Status, s.Why, s.Next = string(loop.StatusUntracked), "there is nothing of it in the state folder", "spec-kitty loop create "+name
		return s, err
	case err != nil:
		s.Status, s.Why, s.Next = string(loop.StatusBroken), err.Error(), "the bytes were left as they are; see spec-kitty help loops-recover"
		return s, err
	}
	defer o.close()
	o.fill(&s)
	return s, nil
}

func (o *opened) fill(s *Status) {
	facts, now, state := o.l.facts(o.name, o.state), o.l.now(), o.state
	shown := state.Shown(facts, now)
	s.Status, s.Why, s.Next = string(shown.Status), shown.Why, shown.Next
	if shown.Warning != "" {
		s.warn("clock", shown.Warning)
	}
	if older := state.Older(facts); older != "" {
		s.warn(string(loop.HaltOlderCopy), older+": the next tick that would begin a run halts the loop")
	}
	if branch, lock := o.locked(); lock != "" {
		s.warn("branch_locked", lock+" keeps branch "+branch+" from being moved: "+unlocking(o.name, lock))
	}
	s.UID, s.Revision, s.Token, s.Control = state.UID, state.Revision, state.Token, string(state.Control.Desired)
	s.Count, s.Due = state.Count, len(state.Due)
	o.fillDefined(s, now)
	o.fillOpen(s)
	s.fillLast(state.Last)
}

func (s *Status) warn(code, message string) { s.Warnings = append(s.Warnings, Warning{code, message}) }

// fillDefined tells what follows from the definition as it is now.
func (o *opened) fillDefined(s *Status, now time.Time) {
	src, err := o.l.ground.Source(o.name)
	if err != nil {
		s.warn("definition_invalid", err.Error())
		return
	}
	if o.state.Overdue(src.Notify.OverdueAfter, now) {
		s.Flags = append(s.Flags, "overdue")
	}
	flags, warning := o.scheduleFlags(src)
	s.Flags = append(s.Flags, flags...)
	if warning != "" {
		s.warn("note_unreadable", warning)
	}
	if err := o.l.ground.Trusted(src); err != nil {
		s.warn("not_trusted", err.Error()+": its ticks are refused")
		if s.Status == string(loop.StatusReady) {
			s.Why, s.Next = "only consent to what it runs is missing", "spec-kitty trust --loop "+o.name
		}
	}
}

// fillOpen tells of the run that is at work, the request and the halt.
func (o *opened) fillOpen(s *Status) {
	if c := o.state.Claim; c != nil {
		s.Claim = &ClaimRow{Token: c.Token, Phase: string(c.Phase), Since: when(c.Since), Host: c.Runner.Host, PID: c.Runner.PID,
			Progress: progressIn(o.l.runDir(o.name, c.Token))}
	}
	if a := o.state.Approval; a != nil {
		s.Approval = &Approval{ID: a.ID, Token: a.Token, Subject: a.Subject, Digest: a.Subject.Digest(), Asked: when(a.Asked), Expires: when(a.Expires),
			State: cmp.Or(string(a.Decision), "open"), By: a.By}
	}
	if h := o.state.Halt; h != nil {
		s.Halt = &HaltRow{Code: string(h.Code), Detail: h.Detail, Token: h.Token, At: when(h.At)}
	}
}

// fillLast tells what happened last.
func (s *Status) fillLast(last loop.Last) {
	if last.Run != nil {
		s.LastRun, s.Detail = string(last.Run.Result), last.Run.Detail
		if why := last.Run.Why; why != "" && why != s.LastRun {
			s.Detail = why + ": " + cmp.Or(last.Run.Detail, "no more is known")
		}
	}
	if last.Skip != nil {
		s.LastSkip = string(last.Skip.Reason)
	}
	s.Success, s.NotBefore = when(last.Success), when(last.NotBefore)
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// All are the loops that the project defines or that have state, sorted.
func (l *Loops) All(ctx context.Context) ([]string, error) {
	made, err := l.folders.List(ctx)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(l.ground.Names()), made...)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Broken tells whether an error says that a loop's state is damaged or of a newer
// version.
func Broken(err error) bool {
	return errors.As(err, new(*commit.DamagedError)) || errors.As(err, new(*commit.TwoWritersError)) || errors.As(err, new(*commit.NewerFormatError))
}
