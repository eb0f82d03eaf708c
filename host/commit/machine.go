package commit

import (
	"context"
	"encoding/json"
	"time"
)

// Settler is a Transition that says itself what becomes of the files that a
// dead writer left unmade: they are not made before it is decided.
type Settler interface{ Settles() bool }

// Meta is what a record says about its commit, apart from the events.
type Meta struct {
	Run      string    // id of the run
	Revision uint64    // 1 for the first record, then one more for each
	At       time.Time // when the writer decided, UTC
	Actor    string    // who
	Kind     string    // kind of transition
}

// Transition is a change as plain values, new tokens included. The core takes
// it as a value and never a function from its caller, so nothing foreign can
// run under the lock.
type Transition[S, F, E any] interface {
	// Kind names the transition in its record: "advance", "answer", …
	Kind() string
	// Actor names who asks for it.
	Actor() string
	// Decide looks at the state and the facts as they were read again under
	// the lock and returns what happened. No events and no error means that
	// nothing is to do. An error is a refusal: the core returns it as it is
	// and writes nothing. Decide is pure; now is read once per commit.
	Decide(state S, facts F, now time.Time) ([]E, error)
}

// Machine is a state machine over events. All methods are pure and may be
// called concurrently. The state is kept as encoding/json writes it.
type Machine[S, E any] interface {
	// Version of Evolve. A state that another version made is not used; the
	// journal is folded again.
	Version() int
	// Zero is the state before the first record.
	Zero() S
	// Evolve is the state after one event. It must not change what its
	// argument refers to: a commit may fail after it was called.
	Evolve(state S, meta Meta, event E) S
	// EncodeEvent gives the event's JSON, one value.
	EncodeEvent(event E) (json.RawMessage, error)
	// DecodeEvent is the inverse. A kind or field that it does not know is an
	// *UnknownEventError, never dropped.
	DecodeEvent(raw json.RawMessage) (E, error)
	// Finished tells whether the run is over, so that another one may follow
	// it (New.Again).
	Finished(state S) bool
}

// Outside reads, under the lock, the facts that a transition relied on. It is
// host code: it runs nothing foreign and is quick.
type Outside[S, F, E any] interface {
	Facts(ctx context.Context, state S, t Transition[S, F, E]) (F, error)
}

// OuterLock is an Outside with a lock of its own that must be taken before the
// run's lock, such as the one of an existing tool whose log is read and
// written. Around is told the run's id. It calls commit exactly once while it
// holds the lock, or returns an error without calling it; Facts and Append get
// the context that it gives to commit.
type OuterLock[S, F, E any] interface {
	Around(ctx context.Context, run string, t Transition[S, F, E], commit func(context.Context) error) error
}

// Appender is an Outside that also writes: to a log outside of the run, after
// Decide allowed the events and before their record is appended. What it wrote
// is durable when it returns nil. On an error nothing is recorded.
type Appender[S, F, E any] interface {
	Append(ctx context.Context, state S, t Transition[S, F, E], events []E) error
}

// Publisher is an Outside that makes files out of what a record carries, such
// as artifacts. The core calls it after the record is durable, and before
// anything else is decided where a dead writer left that undone.
type Publisher[S, E any] interface {
	// Pending is the revision of the record whose files are still to be made,
	// 0 for none. It is pure.
	Pending(state S) uint64
	// Publish makes those files durably and returns the events that say so,
	// which become a record of their own. Called again after a crash, it finds
	// files that are there already.
	Publish(ctx context.Context, state S, rec Record[E]) ([]E, error)
}
