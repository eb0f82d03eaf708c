package loop

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
	e, err := events.Decode[E](kind, body)
	if err != nil {
		return nil, err
	}
	return e, nil
}
