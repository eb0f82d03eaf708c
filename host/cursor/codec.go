package cursor

import (
	"encoding/json"

	"github.com/spec-kitty/step-runner/host/internal/events"
)

// UnknownEventError says that an event was written by a newer version: its kind
// or one of its fields is not known here. It can be shown, not decided on.
type UnknownEventError = events.UnknownError

// EncodeEvent writes an event as one JSON object whose only key is its kind.
func EncodeEvent(e Event) (json.RawMessage, error) { return events.Encode(e.kind(), e) }

// DecodeEvent reads what EncodeEvent wrote. Unknown kinds and fields are an
// *UnknownEventError.
func DecodeEvent(raw json.RawMessage) (Event, error) {
	kind, body, err := events.Split(raw)
	if err != nil {
		return nil, err
	}
	return decodeKind(kind, body)
}

func decodeKind(kind string, body json.RawMessage) (Event, error) {
	switch kind {
	case "started":
		return decode[Started](kind, body)
	case "entered":
		return decode[Entered](kind, body)
	case "asked":
		return decode[Asked](kind, body)
	case "answered":
		return decode[Answered](kind, body)
	case "postponed":
		return decode[Postponed](kind, body)
	case "withdrawn":
		return decode[Withdrawn](kind, body)
	case "inputs_set":
		return decode[InputsSet](kind, body)
	case "issued":
		return decode[Issued](kind, body)
	case "reported":
		return decode[Reported](kind, body)
	case "completed":
		return decode[Completed](kind, body)
	case "stopped":
		return decode[Stopped](kind, body)
	case "retried":
		return decode[Retried](kind, body)
	case "reopened":
		return decode[Reopened](kind, body)
	case "moved":
		return decode[Moved](kind, body)
	case "released":
		return decode[Released](kind, body)
	case "rewound":
		return decode[Rewound](kind, body)
	case "migrated":
		return decode[Migrated](kind, body)
	case "finished":
		return decode[Finished](kind, body)
	case "aborted":
		return decode[RunAborted](kind, body)
	case "published":
		return decode[Published](kind, body)
	case "discarded":
		return decode[Discarded](kind, body)
	}
	return nil, &UnknownEventError{Kind: kind}
}

func decode[E Event](kind string, body json.RawMessage) (Event, error) {
	e, err := events.Decode[E](kind, body)
	if err != nil {
		return nil, err
	}
	return e, nil
}
