package loop

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
	case "created":
		return decode[Created](kind, body)
	case "claimed":
		return decode[Claimed](kind, body)
	case "skipped":
		return decode[Skipped](kind, body)
	case "working":
		return decode[Working](kind, body)
	case "regrouped":
		return decode[Regrouped](kind, body)
	case "verifying":
		return decode[Verifying](kind, body)
	case "landing":
		return decode[Landing](kind, body)
	case "asked":
		return decode[Asked](kind, body)
	case "decided":
		return decode[Decided](kind, body)
	case "voided":
		return decode[Voided](kind, body)
	case "ended":
		return decode[Ended](kind, body)
	case "halted":
		return decode[HaltSet](kind, body)
	case "goal_met":
		return decode[GoalMet](kind, body)
	case "buried":
		return decode[Buried](kind, body)
	case "paused":
		return decode[PauseSet](kind, body)
	case "resumed":
		return decode[Resumed](kind, body)
	case "cleared":
		return decode[Cleared](kind, body)
	case "retired":
		return decode[RetireSet](kind, body)
	case "removed":
		return decode[Removed](kind, body)
	case "noticed":
		return decode[Noticed](kind, body)
	case "sent":
		return decode[Sent](kind, body)
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
