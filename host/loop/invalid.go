package loop

import "time"

// NoteInvalid makes it due to be told that a tick found no definition that it could
// use, and so claimed nothing. It is told once, until a tick claims again; by the next
// tick that has a definition to tell it by.
type NoteInvalid struct {
	By
	Detail string
}

// Kind implements the commit core's Transition.
func (t NoteInvalid) Kind() string { return "note_invalid" }

// Decide makes the notice due. No events: it is on record, or nothing would run.
func (t NoteInvalid) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	if !s.Last.Invalid.IsZero() || s.Control.Desired != Active || s.Claim != nil {
		return nil, nil
	}
	d := newDraft(s, f, now, t)
	d.notice(s.Token, OnInvalid, t.Detail)
	return d.events, nil
}
