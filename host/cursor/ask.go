package cursor

import "time"

// Ask asks for work without reporting any. It completes nothing.
type Ask struct {
	Who    string `json:"who"`
	By     Holder `json:"by"`
	Base   *Base  `json:"base,omitempty"` // of a saved plan: what it relied on; nil: nothing
	Tokens Tokens `json:"tokens"`
}

// Kind implements the commit core's Transition.
func (t Ask) Kind() string { return "ask" }

// Actor implements the commit core's Transition.
func (t Ask) Actor() string { return t.Who }

// Decide hands out what the current step has for the asker. No events: the
// asker holds work already, a question comes first, or the run is over.
func (t Ask) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if t.Base != nil {
		if err := t.fresh(s, f); err != nil {
			return nil, err
		}
	}
	if s.Phase == Running && len(s.Held(t.By)) > 0 {
		return nil, nil
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if err := d.handOut(t.By); err != nil {
		return nil, err
	}
	if len(d.events) > 0 {
		return d.done(nil)
	}
	sit, err := At(s, f, t.By)
	if err != nil {
		return nil, err
	}
	return nil, sit.Refusal()
}

// fresh wants what a saved plan relied on: the cursor as it was, and no work
// with the asker yet.
func (t Ask) fresh(s State, f Facts) error {
	if err := t.Base.check(s, f); err != nil {
		return err
	}
	if len(s.Held(t.By)) > 0 {
		return t.Base.moved(s, "what is handed out to you")
	}
	return nil
}
