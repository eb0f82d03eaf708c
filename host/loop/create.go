package loop

import "time"

// Create is the first transition of a loop.
type Create struct {
	By
	UID        string // new and random
	Name       string
	Definition string // digest
}

// Kind implements the commit core's Transition.
func (t Create) Kind() string { return "create" }

// Decide opens the loop: ready, and not on any schedule.
func (t Create) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := t.outside(InsideRun, "creating a loop"); err != nil {
		return nil, err
	}
	switch {
	case s.UID != "":
		return nil, refuse(Exists, "loop %s exists since %s: retire and remove it first, or take another name", s.Name, stamp(s.Created))
	case f.Shared != "":
		return nil, shared(f.Shared)
	}
	return []Event{Created{UID: t.UID, Name: t.Name, Schema: Schema, Definition: t.Definition}}, nil
}

func shared(other string) error {
	return refuse(WorktreeShared, "loop %s has the same branch or worktree folder: each loop needs a branch of its own ([worktree] branch)", other)
}
