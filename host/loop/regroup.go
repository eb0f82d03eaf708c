package loop

import "time"

// Regroup records the process group of the next program of a run, a git that sets
// its worktree up included, in place of the one before, which has ended. The program
// was started and waits until this is durable.
type Regroup struct {
	Tick
	Group ProcessGroup
}

// Kind implements the commit core's Transition.
func (t Regroup) Kind() string { return "regroup" }

// Decide takes the group over, unless the run is to end.
func (t Regroup) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if _, err := t.going(s, InGate, InWork, InVerify); err != nil {
		return nil, err
	}
	return []Event{Regrouped{Token: t.Token, Group: t.Group}}, nil
}
