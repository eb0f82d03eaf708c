// Package simulate walks a definition with scripted results: who is handed
// what, what is asked, where it ends and why. It promises to decide nothing
// itself: every move is a transition of host/cursor, decided and evolved on a
// state in memory, so that a run with the same results takes the same way. It
// is pure: no files, no clock, no run; what only files, plugins and people
// could decide is assumed, and each assumption is named. All functions may be
// called concurrently.
package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Always is a number of failures that no report comes to the end of.
const Always = -1

// maxMoves is where a walk is given up that neither ends nor comes back to
// where it was.
const maxMoves = 1_000_000

// Script is what happens that the definition does not say.
type Script struct {
	Fail     map[string]int      // how many reports on a step fail, from the first; Always: every one
	Block    map[string]bool     // steps whose next report after those is blocked
	Answers  map[string][]string // by decision id, one for each asking; the last one stays
	Packages []Package           // in file order
}

// Package is a work package and the lane that it begins in.
type Package struct {
	ID   string       `json:"id"`
	Lane mission.Lane `json:"lane"`
}

// Path is the way that a definition was walked.
type Path struct {
	Moves   []Move
	End     End
	Assumed []string // what was taken to be so, in sentences
	Unused  []string // parts of the script that nothing came to
}

// Move is one call, and what it led to.
type Move struct {
	Number     int      `json:"number"` // from 1
	Kind       string   `json:"kind"`   // start, ask, report, auto, close or answer
	By         string   `json:"by"`
	StepID     string   `json:"step_id"` // what is reported; "" where nothing is
	WPID       string   `json:"wp_id"`
	Attempt    int      `json:"attempt"` // 0 where nothing is reported
	Result     string   `json:"result"`
	DecisionID string   `json:"decision_id"` // what is answered
	Answer     string   `json:"answer"`
	Assumed    bool     `json:"assumed"` // the script has no answer, so this is one that is accepted
	Effects    []Effect `json:"effects"`
}

// Effect is one thing that a move led to.
type Effect struct {
	Kind       string   `json:"kind"` // handed_out, asked, completed, moved, stopped, reopened or finished
	StepID     string   `json:"step_id"`
	WPID       string   `json:"wp_id"`
	DecisionID string   `json:"decision_id"`
	Text       string   `json:"text"` // to whom, which question, from where to where
	Options    []string `json:"options"`
}

// The ways to end beside cursor.Done and cursor.Canceled.
const (
	Stuck   = "blocked" // nobody can go on without an operator
	Endless = "endless" // it comes back to where it was, for ever
)

// End is where a walk ended, and why.
type End struct {
	State  string `json:"state"`   // done, canceled, blocked or endless
	StepID string `json:"step_id"` // the current step; "" where the mission is over
	Code   string `json:"code"`    // of the block, as an answer's reason_code; "" where it is none
	Reason string `json:"reason"`
}

// Walk walks a definition that Check accepts. The error is a *ScriptError for a
// script that does not fit it, or the context's.
func Walk(ctx context.Context, def mission.View, script Script) (Path, error) {
	steps, err := check(def, &script)
	if err != nil {
		return Path{}, err
	}
	w := newWalker(def, script, steps)
	if err := w.start(); err != nil {
		return Path{}, err
	}
	for w.path.End.State == "" {
		if err := ctx.Err(); err != nil {
			return Path{}, err
		}
		if err := w.round(); err != nil {
			return Path{}, err
		}
	}
	w.account()
	return w.path, nil
}

// agents are the two that work: a second one, as an author may not approve
// its own work.
func agents() []cursor.Holder { return []cursor.Holder{{Agent: "agent-1"}, {Agent: "agent-2"}} }

// person answers, and approves where no input says who else does.
const person = "person"

// walker is one walk.
type walker struct {
	def    mission.View
	steps  []mission.Step
	script Script
	s      cursor.State
	f      cursor.Facts
	now    time.Time
	turns  []cursor.Holder // whose turn it is first
	path   Path

	reports  map[string]int // made, by step
	blocked  map[string]bool
	askings  map[string]int // answered, by decision id
	executed bool           // an executor was taken to succeed: it may have set any input
	assumed  map[string]bool
	seen     map[fingerprint]int // the move that came there first
}

func newWalker(def mission.View, script Script, steps []mission.Step) *walker {
	w := &walker{
		def: def, steps: steps, script: script, turns: agents(),
		f:       cursor.Facts{Def: def, Source: cursor.Journal},
		now:     time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		reports: map[string]int{}, blocked: map[string]bool{}, askings: map[string]int{},
		assumed: map[string]bool{}, seen: map[fingerprint]int{},
	}
	for _, p := range script.Packages {
		w.f.Packages = append(w.f.Packages, cursor.PackageFact{ID: p.ID, Title: p.ID})
		if p.Lane != mission.Planned {
			w.s = cursor.Evolve(w.s, cursor.Meta{At: w.now}, cursor.Moved{Package: p.ID, From: mission.Planned, To: p.Lane})
		}
	}
	return w
}

func (w *walker) start() error {
	_, err := w.commit(Move{Kind: "start", By: w.turns[0].Agent}, cursor.Start{
		Who: w.turns[0].Agent, Run: "simulation", Mission: "simulation", Def: w.def, By: w.turns[0], Tokens: w.tokens(),
	})
	return err
}

// round lets the first agent move that can. Where none can, the walk is over.
func (w *walker) round() error {
	var why *cursor.Refusal
	for i, by := range w.turns {
		stuck, err := w.turn(by)
		if err != nil {
			return err
		}
		if stuck == nil {
			if i > 0 {
				w.turns[0], w.turns[i] = w.turns[i], w.turns[0]
			}
			w.recall()
			return nil
		}
		if why == nil || vague(why.Code) && !vague(stuck.Code) {
			why = stuck
		}
	}
	w.path.End = End{State: Stuck, StepID: w.s.Cursor.Step, Code: string(why.Code), Reason: why.Message}
	return nil
}

// vague codes say only that somebody else is to move.
func vague(code cursor.Code) bool { return code == cursor.NotHolder || code == cursor.Waiting }

// turn is one call of an agent. The refusal says why it could not move.
func (w *walker) turn(by cursor.Holder) (*cursor.Refusal, error) {
	here, err := cursor.At(w.s, w.f, by)
	if err != nil {
		return nil, err
	}
	switch here.Standing {
	case cursor.AtEnd:
		w.path.End = End{State: string(w.s.Phase), Reason: overWords(w.s.Phase)}
		return nil, nil
	case cursor.AtQuestion:
		return nil, w.answer(w.s.Cursor.Questions[0])
	case cursor.AtWork:
		return w.report(by, *here.Issue, true)
	case cursor.AtClose:
		return w.report(by, cursor.Issue{Pos: w.s.Cursor.Pos, Step: w.s.Cursor.Step, Attempt: w.s.Cursor.Attempt, Holder: by}, false)
	case cursor.AtOffer:
		return w.commit(Move{Kind: "ask", By: by.Agent}, cursor.Ask{Who: by.Agent, By: by, Tokens: w.tokens()})
	}
	return here.Why, nil
}

func overWords(phase cursor.Phase) string {
	if phase == cursor.Canceled {
		return "every package was canceled"
	}
	return "every step is complete"
}

// transition is what the cursor decides on.
type transition interface {
	Kind() string
	Actor() string
	Decide(cursor.State, cursor.Facts, time.Time) ([]cursor.Event, error)
}

// commit decides a transition and takes the state that it leads to. A refusal
// changes nothing.
func (w *walker) commit(m Move, t transition) (*cursor.Refusal, error) {
	events, err := t.Decide(w.s, w.f, w.now)
	var refusal *cursor.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal, nil
	case err != nil:
		return nil, err
	}
	meta := cursor.Meta{Revision: w.s.Revision + 1, At: w.now, Actor: t.Actor(), Kind: t.Kind()}
	for _, e := range events {
		w.s = cursor.Evolve(w.s, meta, e)
	}
	m.Number, m.Effects = len(w.path.Moves)+1, w.effects(events)
	w.path.Moves = append(w.path.Moves, m)
	return nil, nil
}
