package explorer

import (
	"fmt"
	"math/bits"
	"strings"
)

// LoopProtocol says which rules are taken out of the ticks of a loop and of its
// operators' verbs. The zero value is the protocol as built.
type LoopProtocol struct {
	NoLock         bool // commits do not exclude each other
	NoReread       bool // a claim is decided on what was read without the lock
	NoToken        bool // an outcome is not held against the token that the loop has
	WholeState     bool // an outcome writes back all that its tick once read, not its own fields
	NoCancel       bool // a landing does not ask whether its run was canceled
	NoReap         bool // a dead tick's claim is left to its runner
	NoLeaseAgain   bool // a claim is taken over on a heartbeat that was read without the lock
	KillFirst      bool // a dead tick's work is killed before its token is burnt
	NoOrphans      bool // a claim does not wait for the work of burnt tokens to be dead
	LetGoFirst     bool // work is let go before its process group is on record
	SwapFirst      bool // the branch is moved before the intent is on record
	NoSwapCompare  bool // the branch is moved wherever it is
	NoFinish       bool // a landing that was cut short is burnt like any other run
	GrantLater     bool // a grant is used up by the run's end, not by its claim
	NoSubject      bool // an approval is not held against what the person was shown
	NoSubjectAgain bool // nor a grant, by the claim, against what is there now
}

// LoopBounds limit a walk over one loop.
type LoopBounds struct {
	Ticks         uint8 // at most 4
	Kills         uint8 // of a tick, whose work lives on
	Freezes       uint8 // of a tick, for longer than its lease
	PowerFailures uint8
	Pauses        uint8 // some of them cancel the run; and as many resumes
	Decisions     uint8 // approvals and denials
	Strangers     uint8 // moves of the loop's branch by somebody else
	Approval      bool  // the definition wants an approval before each landing
}

const (
	maxTokens  = 5
	elsewhere  = 7 // the commit that a stranger moves the branch to
	maxDecided = 8 // decisions of operators
)

// loopBook is what the loop's journal folds to.
type loopBook struct {
	heard  uint8 // set of the operators' decisions that it knows
	paused bool
	cancel uint8 // token whose run is to end
	halted bool

	token  uint8 // the newest that was given
	claim  uint8 // the token that has the loop; 0: none
	phase  loopPhase
	group  bool  // the claim's process group is on record
	result uint8 // that the claim lands; a commit is named by the token whose work made it

	orphans uint8 // set of burnt tokens whose work may still run
	asked   uint8 // the commit that a person is asked about; 0: none
	granted bool
	ended   uint8 // set of tokens whose run is over
	landed  uint8 // set of commits that are in the books as landed
}

type loopPhase uint8

const (
	noPhase loopPhase = iota
	phaseGate
	phaseWork
	phaseVerify
	phaseLanding
)

// loopState is everything that decides what can happen next. The journal is taken
// for what Explore proves of it, so a commit is one step once its lock is held.
type loopState struct {
	book    loopBook
	holder  uint8            // tick that has the lock, 1 or 2; 0: nobody
	branch  uint8            // the commit that it is at; 0: where the loop began
	base    [maxTokens]uint8 // the commit that each token's work began at
	waiting uint8            // set of tokens whose work was started and not let go
	working uint8            // set of tokens whose work runs
	used    uint8            // set of commits whose grant a claim has used
	told    uint8            // set of decisions that were acknowledged
	decided uint8            // decisions made
	shown   uint8            // the request that an operator looks at
	ticks   [2]loopTick
	left    LoopBounds
}

// loopTick is one tick at work.
type loopTick struct {
	at     loopPlace
	locked bool
	seen   loopBook // as it read it last
	began  loopBook // as its claim left it
	over   bool     // the claim that it saw is over: read without the lock
	again  bool     // the same, read under it
	own    uint8    // its token
	result uint8    // the commit that it lands
	head   uint8    // where the branch was after the swap
	frozen bool
	late   bool // its heartbeat is older than the lease
}

type loopPlace uint8

const (
	noTick loopPlace = iota
	readingLoop
	burning
	killingWork
	burying
	swappingAgain
	finishingAgain
	claiming
	preparing
	recordingGroup
	lettingGo
	atWork
	recordingResult
	askingToLand
	intending
	swapping
	finishing
	canceling
)

// commits tells whether a step at a place is a commit.
func (at loopPlace) commits() bool {
	switch at {
	case burning, burying, finishingAgain, claiming, recordingGroup, recordingResult, askingToLand, intending, finishing, canceling:
		return true
	}
	return false
}

// dead tells whether a claim's tick is: its process is gone, or gave no heartbeat
// for longer than its lease.
func (s *loopState) dead(token uint8) bool {
	for _, w := range s.ticks {
		if w.own == token && w.at != noTick {
			return w.late
		}
	}
	return true
}

// living is the set of tokens that have a process.
func (s *loopState) living() uint8 { return s.waiting | s.working }

// endWork ends the processes of some tokens.
func (s *loopState) endWork(tokens uint8) {
	s.waiting &^= tokens
	s.working &^= tokens
}

func has(set, n uint8) bool { return set&(1<<n) != 0 }

// broken says which promise does not hold, or "".
func (s loopState) broken() string {
	b := s.book
	switch {
	case bits.OnesCount8(s.working) > 1:
		return "two agents are at work at once"
	case s.told&^b.heard != 0:
		return "an operator's decision is lost"
	case s.branch != 0 && s.branch != elsewhere && !has(b.landed, s.branch) && !(b.phase == phaseLanding && b.result == s.branch):
		return "the branch is at a commit that no record speaks of"
	}
	return ""
}

func (s loopState) String() string {
	var out strings.Builder
	b := s.book
	fmt.Fprintf(&out, "token %d", b.token)
	if b.claim != 0 {
		fmt.Fprintf(&out, ", run %d in %s", b.claim, [...]string{"", "gate", "work", "verify", "landing"}[b.phase])
	}
	for _, part := range []struct {
		is   bool
		text string
	}{
		{b.paused, "paused"}, {b.halted, "halted"}, {b.asked != 0, fmt.Sprint("asked on ", b.asked)}, {b.granted, "granted"},
		{b.orphans != 0, fmt.Sprintf("orphans %b", b.orphans)}, {s.working != 0, fmt.Sprintf("at work %b", s.working)},
	} {
		if part.is {
			out.WriteString(", " + part.text)
		}
	}
	fmt.Fprintf(&out, ", branch at %d, ended %b, landed %b", s.branch, b.ended, b.landed)
	return out.String()
}
