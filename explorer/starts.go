package explorer

import (
	"fmt"
	"strings"
)

// StartProtocol says which rules are taken out of the start of a run and of its
// index. The zero value is the protocol as built.
type StartProtocol struct {
	NoLock     bool // starts do not exclude each other
	TrustIndex bool // the index is believed to say that there is no run
	NoFileSync bool // a run gets its name before its files are durable
	NoNameSync bool // a start is answered before the run's name is durable
	EntryFirst bool // the index names the run before its name is durable
	NoHealSync bool // a run that the index does not name is committed on at once
}

// StartBounds limit a walk of starts.
type StartBounds struct {
	Starts        uint8 // calls that start a run of the one mission
	Commits       uint8 // calls that find its run and commit
	Kills         uint8
	PowerFailures uint8
	FailedSyncs   uint8
	Removals      uint8 // of the index entry, by somebody
}

const maxStarted = 3 // runs ever made

// startedRun is a run folder.
type startedRun struct {
	named   bool // as programs see it
	durable bool // a power failure leaves the name
	whole   bool // its files are durable
	half    bool // the power left its name, and not its files
	acked   bool // somebody was told of it, or that a commit on it is recorded
}

// startState is everything that decides what can happen next.
type startState struct {
	runs     [maxStarted + 1]startedRun // by number; 0 is none
	newest   uint8
	entry    uint8 // the run that the index names, as programs see it
	mayEntry uint8 // set of those that the power can leave
	holder   uint8 // writer that has the index lock, 1 or 2; 0: nobody
	writers  [2]startWriter
	left     StartBounds
}

// startWriter is one call at work.
type startWriter struct {
	at      startPlace
	run     uint8
	commits bool // it came to commit, not to start
}

type startPlace uint8

const (
	notCalled startPlace = iota
	calling
	building
	naming
	nameSyncing
	entering
	started
	healWaiting
	healSyncing
	healEntering
	found
)

// find is a run of the mission: the one that the index names, else any.
func (s *startState) find(trustIndex bool) uint8 {
	if s.entry != 0 && s.runs[s.entry].named {
		return s.entry
	}
	for id := uint8(1); id <= maxStarted && !trustIndex; id++ {
		if s.runs[id].named {
			return id
		}
	}
	return 0
}

// broken says which promise does not hold, or "".
func (s startState) broken() string {
	live := 0
	for _, r := range s.runs {
		switch {
		case r.acked && !r.named:
			return "what was acknowledged is lost with its run"
		case r.half:
			return "a run is there and half of it is not"
		case r.named:
			live++
		}
	}
	if live > 1 {
		return "a mission has two runs"
	}
	return ""
}

func (s startState) String() string {
	var b strings.Builder
	for id, r := range s.runs {
		if !r.named {
			continue
		}
		fmt.Fprintf(&b, " run %d", id)
		if !r.durable {
			b.WriteByte('?')
		}
	}
	return fmt.Sprintf("[%s ] index %d", b.String(), s.entry)
}
