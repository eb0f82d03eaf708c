package loop

import "time"

// Reap burns the token of a claim whose lease is over or whose runner is gone.
// From then on its runner can write nothing, should it wake; only then its
// process group is killed, as an orphan that keeps others out until it is known
// dead. A claim that died in its landing is not reaped but finished.
type Reap struct {
	Tick
	Usage Usage // as far as the run told it
}

// Kind implements the commit core's Transition.
func (t Reap) Kind() string { return "reap" }

// Decide judges the lease by the heartbeat that was read under the lock: a
// runner that woke in time keeps its claim.
func (t Reap) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	c, err := t.in(s, InGate, InWork, InVerify)
	if err != nil {
		return nil, err
	}
	if err := leaseLive(s, f, now); err != nil {
		return nil, err
	}
	d := newDraft(s, f, now, t)
	standing := s.Standing(f, now)
	e := Ended{Result: EndCrashed, Detail: standing.Why, Recovered: true, Usage: charge(c, t.Usage), Orphan: c.orphan(f)}
	if s.Control.Cancel == t.Token {
		e.Result = EndCanceled // it was to end anyway
		d.end(e)
	} else {
		d.fail(e, HaltCrashed)
	}
	d.notice(t.Token, OnLost, "run was lost in phase "+string(c.Phase)+": "+standing.Why)
	return d.events, nil
}

// orphan is what may go on running after its runner; nil where nothing can:
// nothing was begun, or the machine was restarted since.
func (c *Claim) orphan(f Facts) *Orphan {
	restarted := c.Runner.Host == f.Here.Host && c.Runner.Boot != "" && f.Here.Boot != "" && c.Runner.Boot != f.Here.Boot
	if c.Group == nil || restarted {
		return nil
	}
	return &Orphan{Token: c.Token, Runner: c.Runner, Group: *c.Group}
}

// Bury says that the process group of a burnt token is dead: as it was found
// under the lock or, for one that cannot be told from others, as an operator
// assures, with a reason.
type Bury struct {
	By
	Token      uint64
	AssumeDead bool
	Reason     string
}

// Kind implements the commit core's Transition.
func (t Bury) Kind() string { return "bury" }

// Decide never takes an operator's word against a process that is seen alive.
func (t Bury) Decide(s State, f Facts, now time.Time) ([]Event, error) {
	if err := there(s); err != nil {
		return nil, err
	}
	for _, o := range s.Orphans {
		if o.Token != t.Token {
			continue
		}
		alive := f.Orphans[t.Token]
		switch {
		case alive == Gone:
			return []Event{Buried{Token: t.Token}}, nil
		case alive == Alive || !t.AssumeDead:
			return nil, orphanAlive(o, alive)
		case t.Reason == "":
			return nil, refuse(ReasonRequired, "saying that a process is dead without proof needs a reason: --reason")
		}
		if err := t.outside(InsideRun, "assuming a process dead"); err != nil {
			return nil, err
		}
		return []Event{Buried{Token: t.Token, Assumed: true, Reason: t.Reason}}, nil
	}
	return nil, refuse(NoOrphan, "run %d left no process that is still looked for", t.Token)
}
