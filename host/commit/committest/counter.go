// Package committest proves a storage of host/commit. Run holds any Catalog
// to the contract; Counter is the toy state machine that it and the storage's
// own tests use.
package committest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
)

// State of a counter.
type State struct {
	Count int            `json:"count"`
	By    map[string]int `json:"by"`   // how much of it each actor added
	Last  string         `json:"last"` // token of the last addition
	Done  bool           `json:"done"`
}

// Facts are what an addition relies on outside of the counter.
type Facts struct{ Limit int } // 0: none

// Event is one of "opened", "added", "finished", "reopened".
type Event struct {
	Type  string `json:"type"`
	By    int    `json:"by,omitempty"`
	Token string `json:"token,omitempty"`
}

// Short names for the instances that the tests use.
type (
	Catalog    = commit.Catalog[State, Facts, Event]
	Store      = commit.Store[State, Facts, Event]
	Transition = commit.Transition[State, Facts, Event]
	New        = commit.New[State, Facts, Event]
	Outcome    = commit.Outcome[State, Event]
)

// Counter is the machine.
type Counter struct{ V int }

func (m Counter) Version() int        { return max(m.V, 1) }
func (Counter) Zero() State           { return State{By: map[string]int{}} }
func (Counter) Finished(s State) bool { return s.Done }

func known(e Event) error {
	switch e.Type {
	case "opened", "added", "finished", "reopened":
		return nil
	}
	return &commit.UnknownEventError{Why: "type " + e.Type}
}

// Evolve implements commit.Machine; the old state stays as it was.
func (Counter) Evolve(s State, meta commit.Meta, e Event) State {
	switch e.Type {
	case "added":
		s.By = maps.Clone(s.By)
		s.By[meta.Actor] += e.By
		s.Count += e.By
		s.Last = e.Token
	case "finished":
		s.Done = true
	case "reopened":
		s.Done = false
	}
	return s
}

// EncodeEvent implements commit.Machine.
func (m Counter) EncodeEvent(e Event) (json.RawMessage, error) {
	if err := known(e); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// DecodeEvent implements commit.Machine.
func (m Counter) DecodeEvent(raw json.RawMessage) (Event, error) {
	var e Event
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, &commit.UnknownEventError{Why: err.Error()}
	}
	return e, known(e)
}

// Refusal is the machine's own error.
type Refusal struct{ Code string }

func (r *Refusal) Error() string { return r.Code }

// Open is the first transition.
type Open struct{ Refuse error }

func (Open) Kind() string  { return "open" }
func (Open) Actor() string { return "opener" }

// Decide implements commit.Transition.
func (t Open) Decide(State, Facts, time.Time) ([]Event, error) {
	if t.Refuse != nil {
		return nil, t.Refuse
	}
	return []Event{{Type: "opened"}}, nil
}

// Add adds By. The same token twice in a row is a no-op. With Expect the
// counter must stand there.
type Add struct {
	Who    string
	By     int
	Token  string
	Expect *int
}

func (Add) Kind() string    { return "add" }
func (t Add) Actor() string { return t.Who }

// Decide implements commit.Transition.
func (t Add) Decide(s State, f Facts, _ time.Time) ([]Event, error) {
	switch {
	case t.Token != "" && s.Last == t.Token:
		return nil, nil
	case s.Done:
		return nil, &Refusal{"finished"}
	case t.Expect != nil && *t.Expect != s.Count:
		return nil, &Refusal{"moved"}
	case f.Limit > 0 && s.Count+t.By > f.Limit:
		return nil, &Refusal{"limit"}
	}
	return []Event{{Type: "added", By: t.By, Token: t.Token}}, nil
}

// Finish ends the counter.
type Finish struct{}

func (Finish) Kind() string  { return "finish" }
func (Finish) Actor() string { return "finisher" }

// Decide implements commit.Transition.
func (Finish) Decide(s State, _ Facts, _ time.Time) ([]Event, error) {
	if s.Done {
		return nil, nil
	}
	return []Event{{Type: "finished"}}, nil
}

// Reopen takes the end of the counter back.
type Reopen struct{}

func (Reopen) Kind() string  { return "reopen" }
func (Reopen) Actor() string { return "reopener" }

// Decide implements commit.Transition.
func (Reopen) Decide(s State, _ Facts, _ time.Time) ([]Event, error) {
	if !s.Done {
		return nil, &Refusal{"not over"}
	}
	return []Event{{Type: "reopened"}}, nil
}

// Outside gives facts that a test can change while a commit waits.
type Outside struct {
	Limit atomic.Int64
	Err   error
	Asked atomic.Int64 // how often the facts were read
}

// Facts implements commit.Outside.
func (o *Outside) Facts(context.Context, State, Transition) (Facts, error) {
	o.Asked.Add(1)
	return Facts{Limit: int(o.Limit.Load())}, o.Err
}

// ID gives run ids that sort in the order of n, shaped like ULIDs.
func ID(n int) string { return fmt.Sprintf("01J%023d", n) }
