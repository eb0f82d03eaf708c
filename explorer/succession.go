package explorer

import (
	"fmt"
	"strings"
)

// SuccessionProtocol says which rules are taken out of what comes after a finished
// run. The zero value is the protocol as built.
type SuccessionProtocol struct {
	NoLock     bool // a start that follows a run does not take its succession lock
	NoLook     bool // nor read it once more before it follows
	NoFollower bool // a commit that opens a run again does not look for one that followed
	NoSettle   bool // a run is followed whose end may not be durable
	MarkLater  bool // the one that followed is marked in the other when it has its name
}

// SuccessionBounds limit a walk.
type SuccessionBounds struct {
	Starts        uint8 // calls that follow the last run of the one mission
	Commits       uint8 // calls that end a run, or open it again
	Kills         uint8
	PowerFailures uint8
}

const (
	maxFollowed = 3 // runs
	maxEnds     = 5 // records of a run
)

// successionRun is a run. It is live at first; each record ends it, or opens it again.
type successionRun struct {
	named   bool  // as programs see it
	durable bool  // a power failure leaves the name
	ends    uint8 // records, as programs see them: an odd number, and it is over
	synced  uint8 // of them durable
	view    uint8 // of them the state file vouches for
	acked   uint8 // of them somebody was told of
	told    bool  // its start was answered
	mark    uint8 // the run that follows it, which may have no name

	lock, succession uint8 // writer that has it, 1 or 2; 0: nobody
}

func (r *successionRun) live() bool { return r.named && r.ends%2 == 0 }

// successionState is everything that decides what can happen next.
type successionState struct {
	runs    [maxFollowed + 1]successionRun // by number; 0 is none
	newest  uint8
	index   uint8 // writer that has the index lock
	writers [2]successionWriter
	left    SuccessionBounds
}

// successionWriter is one call at work.
type successionWriter struct {
	at      successionPlace
	run     uint8 // that it follows, or commits on
	made    uint8 // by a start
	settled uint8 // records of run that the start knows to be durable
	reopens bool  // the commit is to open the run again, else to end it
}

type successionPlace uint8

const (
	noCall successionPlace = iota
	startWaits
	startCalls
	settleWaits
	settles
	startBuilds
	followWaits
	followLooks
	followMarks
	followNames
	namesSync
	startTells
	commitWaits
	commitLoads
	commitAsks
	commitDecides
	commitAppends
	commitSyncs
)

func firstSuccession(b SuccessionBounds) successionState {
	s := successionState{newest: 1, left: b}
	s.runs[1] = successionRun{named: true, durable: true, told: true}
	return s
}

// last is the run that a mission's name means.
func (s *successionState) last() uint8 {
	for id := uint8(maxFollowed); id > 0; id-- {
		if s.runs[id].named {
			return id
		}
	}
	return 0
}

// broken says which promise does not hold, or "".
func (s successionState) broken() string {
	live := 0
	for id := range s.runs {
		r := &s.runs[id]
		switch {
		case r.told && !r.named:
			return "a run that somebody was told of is lost"
		case r.acked > r.ends:
			return "an acknowledged record is lost"
		case r.live():
			live++
		}
	}
	if live > 1 {
		return "a mission has two live runs"
	}
	return ""
}

func (s successionState) String() string {
	var b strings.Builder
	for id := range s.runs {
		r := &s.runs[id]
		if !r.named {
			continue
		}
		how := "live"
		if !r.live() {
			how = "over"
		}
		fmt.Fprintf(&b, " run %d %s", id, how)
		if r.ends > r.synced || !r.durable {
			b.WriteByte('?')
		}
	}
	return "[" + b.String() + " ]"
}
