package runner

import (
	"encoding/json"
	"errors"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// machine gives the cursor to the commit core, which it does not know.
type machine struct{}

// Machine is the cursor as the commit core takes it, for programs that open a
// run's store themselves: to measure it, to check it.
func Machine() commit.Machine[cursor.State, cursor.Event] { return machine{} }

func (machine) Version() int       { return cursor.Version }
func (machine) Zero() cursor.State { return cursor.State{} }

func (machine) Evolve(s cursor.State, m commit.Meta, e cursor.Event) cursor.State {
	return cursor.Evolve(s, metaOf(m), e)
}

// metaOf is what the cursor is told of a record.
func metaOf(m commit.Meta) cursor.Meta {
	return cursor.Meta{Revision: m.Revision, At: m.At, Actor: m.Actor, Kind: m.Kind}
}

func (machine) EncodeEvent(e cursor.Event) (json.RawMessage, error) { return cursor.EncodeEvent(e) }

func (machine) DecodeEvent(raw json.RawMessage) (cursor.Event, error) {
	e, err := cursor.DecodeEvent(raw)
	var unknown *cursor.UnknownEventError
	if errors.As(err, &unknown) {
		return nil, &commit.UnknownEventError{Why: unknown.Error()}
	}
	return e, err
}

// Finished holds back a run that follows until the artifacts of this one lie in
// their places: nobody would finish them then.
func (machine) Finished(s cursor.State) bool {
	return s.Phase != cursor.Running && s.Unpublished == nil
}
