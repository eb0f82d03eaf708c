// Package events is how a state machine's events are written: one JSON object
// whose only key is the event's kind. What this version does not know is named,
// never dropped. It is pure; all functions may be called concurrently.
package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// UnknownError says that an event was written by a newer version: its kind or one
// of its fields is not known here. It can be shown, not decided on.
type UnknownError struct {
	Kind string
	Err  error // what the decoder said; nil: the kind is unknown
}

func (e *UnknownError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("unknown event %q", e.Kind)
	}
	return fmt.Sprintf("event %q: %v", e.Kind, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// Encode writes an event of a kind.
func Encode[E any](kind string, event E) (json.RawMessage, error) {
	return json.Marshal(map[string]E{kind: event})
}

// Split gives the kind of an event and its fields.
func Split(raw json.RawMessage) (kind string, body json.RawMessage, err error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &outer); err != nil {
		return "", nil, fmt.Errorf("event is no object: %w", err)
	}
	if len(outer) != 1 {
		return "", nil, fmt.Errorf("event has %d kinds, wants one", len(outer))
	}
	for kind, body = range outer {
	}
	return kind, body, nil
}

// Decode reads the fields of an event. Unknown ones are an *UnknownError: a field
// that we dropped would be lost at the next write.
func Decode[E any](kind string, body json.RawMessage) (E, error) {
	var e E
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return e, &UnknownError{Kind: kind, Err: errors.New("null where its fields were expected")}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, &UnknownError{Kind: kind, Err: err}
	}
	return e, nil
}
