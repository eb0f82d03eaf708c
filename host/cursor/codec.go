package cursor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// UnknownEventError says that an event was written by a newer version: its kind
// or one of its fields is not known here. It can be shown, not decided on.
type UnknownEventError struct {
	Kind string
	Err  error // what the decoder said; nil: the kind is unknown
}

func (e *UnknownEventError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("unknown event %q", e.Kind)
	}
	return fmt.Sprintf("event %q: %v", e.Kind, e.Err)
}

func (e *UnknownEventError) Unwrap() error { return e.Err }

// EncodeEvent writes an event as one JSON object whose only key is its kind.
func EncodeEvent(e Event) (json.RawMessage, error) {
	return json.Marshal(map[string]Event{e.kind(): e})
}

// DecodeEvent reads what EncodeEvent wrote. Unknown kinds and fields are an
// *UnknownEventError: a field that we dropped would be lost at the next write.
func DecodeEvent(raw json.RawMessage) (Event, error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &outer); err != nil {
		return nil, fmt.Errorf("event is no object: %w", err)
	}
	if len(outer) != 1 {
		return nil, fmt.Errorf("event has %d kinds, wants one", len(outer))
	}
	for kind, body := range outer {
		return decodeKind(kind, body)
	}
	panic("unreachable")
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
	var e E
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return nil, &UnknownEventError{Kind: kind, Err: errors.New("null where its fields were expected")}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, &UnknownEventError{Kind: kind, Err: err}
	}
	return e, nil
}
