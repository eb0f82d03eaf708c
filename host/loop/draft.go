package loop

import (
	"slices"
	"strconv"
	"time"
)

// By is who asks for a transition.
type By struct {
	Who    string // the actor, as the record keeps it
	Inside string // the run that the caller is a part of, as its environment says; "" outside of any
}

// Actor implements the commit core's Transition.
func (b By) Actor() string { return b.Who }

// outside refuses what may not be done from inside a run. The environment is a
// guard and no wall: who asked is recorded all the same.
func (b By) outside(code Code, what string) error {
	if b.Inside == "" {
		return nil
	}
	return refuse(code, "%s from inside a run (%s) is not allowed: a run neither starts runs nor decides on its own work; ask a person", what, b.Inside)
}

// draft is a decision in the making: events so far, and the state that they
// make.
type draft struct {
	s      State
	f      Facts
	meta   Meta
	events []Event
}

func newDraft(s State, f Facts, now time.Time, t interface {
	Kind() string
	Actor() string
}) *draft {
	return &draft{s: s, f: f, meta: Meta{Revision: s.Revision + 1, At: now, Actor: t.Actor(), Kind: t.Kind()}}
}

func (d *draft) emit(e Event) {
	d.events = append(d.events, e)
	d.s = Evolve(d.s, d.meta, e)
}

func (d *draft) now() time.Time { return d.meta.At }

// notice makes something due to be told. The same thing is told once.
func (d *draft) notice(token uint64, on Occasion, detail string) {
	key := strconv.FormatUint(token, 10) + "/" + string(on)
	for _, n := range d.s.Due {
		if n.Key == key {
			return
		}
	}
	d.emit(Noticed{Key: key, On: on, Detail: detail})
}

func (d *draft) halt(code Halting, token uint64, detail string) {
	d.emit(HaltSet{Code: code, Token: token, Detail: detail})
	text := string(code)
	if detail != "" {
		text += ": " + detail
	}
	d.notice(token, OnHalted, text)
}

// there refuses a loop that is not, or was made by a newer version.
func there(s State) error {
	switch {
	case s.UID == "" || s.Removed:
		return refuse(Untracked, "there is no such loop: spec-kitty loop create makes one")
	case s.Schema > Schema:
		return refuse(NewerFormat, "the loop's state has format %d and this version knows %d: use the newer version", s.Schema, Schema)
	}
	return nil
}

// Tick names the claim that a tick's transition belongs to. It is compared with
// the state, the revision is not: what operators decide during a run does not
// void the run.
type Tick struct {
	By
	UID   string
	Token uint64
}

// held is the claim, while it still is this tick's.
func (t Tick) held(s State) (*Claim, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	switch {
	case s.UID != t.UID:
		return nil, refuse(LoopReplaced, "the loop was removed and made anew since this tick began: nothing of the tick counts")
	case s.Claim == nil:
		return nil, refuse(StaleToken, "token %d ended%s: this tick may write nothing more", t.Token, s.howEnded(t.Token))
	case s.Claim.Token != t.Token:
		return nil, refuse(StaleToken, "token %d was overtaken by token %d: this tick may write nothing more", t.Token, s.Claim.Token)
	}
	return s.Claim, nil
}

func (s State) howEnded(token uint64) string {
	if s.Last.Run != nil && s.Last.Run.Token == token {
		return " (" + string(s.Last.Run.Result) + ")"
	}
	return ""
}

// in is the claim in one of some phases.
func (t Tick) in(s State, phases ...Phase) (*Claim, error) {
	c, err := t.held(s)
	if err != nil {
		return nil, err
	}
	if slices.Contains(phases, c.Phase) {
		return c, nil
	}
	return nil, refuse(WrongPhase, "token %d is in phase %s, which this does not follow", t.Token, c.Phase)
}

// going is the claim in one of some phases, unless its run is to end.
func (t Tick) going(s State, phases ...Phase) (*Claim, error) {
	c, err := t.in(s, phases...)
	if err == nil && s.Control.Cancel == t.Token {
		return nil, refuse(IsCanceled, "run %d was canceled by %s: %s", t.Token, s.Control.By, orNone(s.Control.Reason))
	}
	return c, err
}

func orNone(reason string) string {
	if reason == "" {
		return "no reason was given"
	}
	return reason
}
