package cursor

import "time"

// Ask asks for work without reporting any. It completes nothing.
type Ask struct {
	Who    string `json:"who"`
	By     Holder `json:"by"`
	Tokens Tokens `json:"tokens"`
}

// Kind implements the commit core's Transition.
func (t Ask) Kind() string { return "ask" }

// Actor implements the commit core's Transition.
func (t Ask) Actor() string { return t.Who }

// Decide hands out what the current step has for the asker. No events: the
// asker holds work already, a question comes first, or the run is over.
func (t Ask) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if s.Phase == Running && len(s.Held(t.By)) > 0 {
		return nil, nil
	}
	d := newDraft(s, f, now, t, t.Tokens)
	if err := d.handOut(t.By); err != nil {
		return nil, err
	}
	if len(d.events) > 0 {
		return d.events, nil
	}
	sit, err := At(s, f, t.By)
	if err != nil {
		return nil, err
	}
	return nil, sit.Refusal()
}
