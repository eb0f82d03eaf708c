// Package tick runs loops: it puts the loop's state machine, the commit core and
// the programs of the definition together. It promises that no lock is held
// while any of those programs runs, and that whatever a tick decides is decided
// and recorded in one commit, on the state as it was read again under the lock.
package tick

import (
	"encoding/json"
	"errors"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// JournalName is the name of a loop's journal, in its folder.
const JournalName = "loop.events.jsonl"

// machine gives the loop to the commit core, which it does not know.
type machine struct{}

// Machine is the loop as the commit core takes it, for programs that open a
// loop's store themselves.
func Machine() commit.Machine[loop.State, loop.Event] { return machine{} }

func (machine) Version() int     { return loop.Version }
func (machine) Zero() loop.State { return loop.State{} }

func (machine) Evolve(s loop.State, m commit.Meta, e loop.Event) loop.State {
	return loop.Evolve(s, loop.Meta{Revision: m.Revision, At: m.At, Actor: m.Actor, Kind: m.Kind}, e)
}

func (machine) EncodeEvent(e loop.Event) (json.RawMessage, error) { return loop.EncodeEvent(e) }

func (machine) DecodeEvent(raw json.RawMessage) (loop.Event, error) {
	e, err := loop.DecodeEvent(raw)
	var unknown *loop.UnknownEventError
	if errors.As(err, &unknown) {
		return nil, &commit.UnknownEventError{Why: unknown.Error()}
	}
	return e, err
}

func (machine) Finished(s loop.State) bool { return s.Removed }
