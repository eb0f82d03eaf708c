package cursor

import "time"

// Publish finishes a publication that was left over. The commit core does that
// before any Decide, so there is nothing left to decide.
type Publish struct {
	Who string
}

// Kind implements the commit core's Transition.
func (Publish) Kind() string { return "publish" }

// Actor implements the commit core's Transition.
func (t Publish) Actor() string { return t.Who }

// Decide implements the commit core's Transition.
func (Publish) Decide(State, Facts, time.Time) ([]Event, error) { return nil, nil }

// Discard gives up the artifacts of a record that cannot be put in their places,
// since something else stands there that somebody wants to keep.
type Discard struct {
	Who      string
	Revision uint64 // of that record
	Reason   string
}

// Kind implements the commit core's Transition.
func (Discard) Kind() string { return "discard" }

// Actor implements the commit core's Transition.
func (t Discard) Actor() string { return t.Who }

// Settles implements the commit core's Settler: what is left over is not
// finished first.
func (Discard) Settles() bool { return true }

// Decide refuses where somebody else settled it meanwhile.
func (t Discard) Decide(s State, _ Facts, _ time.Time) ([]Event, error) {
	if s.Unpublished == nil || s.Unpublished.Revision != t.Revision {
		return nil, refuse(NothingToPublish, "every artifact of this run lies in its place, or was given up already")
	}
	return []Event{Discarded{Revision: t.Revision, Paths: s.Unpublished.Paths, Reason: t.Reason}}, nil
}
