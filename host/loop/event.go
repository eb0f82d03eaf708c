package loop

import "time"

// Event is one thing that happened to a loop. The kinds are those of this file;
// their JSON is part of the published journal format, so a field once shipped
// keeps its name and meaning.
type Event interface{ kind() string }

// Created opens the journal.
type Created struct {
	UID        string `json:"uid"`
	Name       string `json:"name"`
	Schema     int    `json:"schema"`
	Definition string `json:"definition"` // digest
}

// Claimed gives a tick the loop.
type Claimed struct {
	Token      uint64    `json:"token"`
	Runner     Runner    `json:"runner"`
	Definition string    `json:"definition"` // digest; the run goes by it whatever happens to the file
	Rules      Rules     `json:"rules"`
	Slot       time.Time `json:"slot,omitzero"`
	Missed     int       `json:"missed,omitempty"` // slots between the last one and this
	Grant      *Grant    `json:"grant,omitempty"`  // used up by this claim
}

// Skipped is a firing that did nothing.
type Skipped struct {
	Reason Code      `json:"reason"`
	Detail string    `json:"detail,omitempty"`
	Slot   time.Time `json:"slot,omitzero"`
	Missed int       `json:"missed,omitempty"`
}

// Working lets the work go: its process waits until this is durable.
type Working struct {
	Token    uint64       `json:"token"`
	Group    ProcessGroup `json:"group"`
	Base     string       `json:"base"`
	BaseTree string       `json:"base_tree"`
}

// Regrouped says which of the run's programs runs now.
type Regrouped struct {
	Token uint64       `json:"token"`
	Group ProcessGroup `json:"group"`
}

// Verifying says what the work left. It charges what the work used.
type Verifying struct {
	Token  uint64        `json:"token"`
	Group  *ProcessGroup `json:"group,omitempty"`
	Result string        `json:"result"`
	Tree   string        `json:"tree"`
	Usage  Usage         `json:"usage"`
}

// Landing is the intent to move the branch from one commit to another. A claim
// that dies after it is finished, not reaped.
type Landing struct {
	Token uint64 `json:"token"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Tree  string `json:"tree"`
	// Branch is the one that moves: a landing is finished by what it began with,
	// whatever the definition says by then.
	Branch string `json:"branch,omitempty"`
	Goal   bool   `json:"goal,omitempty"`
}

// Asked asks for a person's decision. The claim is given up.
type Asked struct {
	Approval
}

// Decided is that decision.
type Decided struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`
	Note     string   `json:"note,omitempty"`
}

// Voided withdraws a request, or a grant that was not used: what it was about
// changed.
type Voided struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Ended gives the loop back. Each token ends at most once.
type Ended struct {
	Token     uint64    `json:"token"`
	Result    Result    `json:"result"`
	Why       string    `json:"why,omitempty"` // in one word, such as timeout
	Detail    string    `json:"detail,omitempty"`
	Failure   bool      `json:"failure,omitempty"`  // it counts as one
	Progress  Progress  `json:"progress,omitempty"` // "": it says nothing about it
	Verdict   string    `json:"verdict,omitempty"`  // digest of the verifier's refusal
	Usage     *Usage    `json:"usage,omitempty"`    // of work that was not charged yet
	NotBefore time.Time `json:"not_before,omitzero"`
	Recovered bool      `json:"recovered,omitempty"` // another tick did it
	Orphan    *Orphan   `json:"orphan,omitempty"`    // what may still run
}

// Result is how a claim ended.
type Result string

// The results.
const (
	EndClosed      Result = "gate_closed"
	EndAsked       Result = "asked"
	EndSuccess     Result = "success"
	EndFailed      Result = "failed"
	EndVerify      Result = "verify_failed"
	EndCanceled    Result = "canceled"
	EndLimit       Result = "limit"
	EndCrashed     Result = "crashed"
	EndBranchMoved Result = "branch_moved"
)

// Progress tells whether a run changed anything.
type Progress string

// The answers. The zero value is that the run says nothing about it.
const (
	Moved Progress = "moved"
	Stuck Progress = "stuck"
)

// HaltSet keeps the loop from going on.
type HaltSet struct {
	Code   Halting `json:"code"`
	Detail string  `json:"detail,omitempty"`
	Token  uint64  `json:"token,omitempty"`
}

// GoalMet says that the loop is done.
type GoalMet struct {
	Token uint64 `json:"token"`
}

// Buried says that nothing of a burnt token runs any more.
type Buried struct {
	Token   uint64 `json:"token"`
	Assumed bool   `json:"assumed,omitempty"` // by an operator, without proof
	Reason  string `json:"reason,omitempty"`
}

// PauseSet pauses the loop.
type PauseSet struct {
	Reason string    `json:"reason,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Cancel uint64    `json:"cancel,omitempty"`
}

// Resumed ends a pause. Cancels stay.
type Resumed struct {
	Reason string `json:"reason,omitempty"`
}

// Cleared takes a halt, or the goal's having been met, away.
type Cleared struct {
	Code   Halting `json:"code"`
	Reset  bool    `json:"reset,omitempty"` // the counters too, but for totals
	Reason string  `json:"reason,omitempty"`
}

// RetireSet ends the loop for good.
type RetireSet struct {
	Reason string `json:"reason,omitempty"`
	Cancel uint64 `json:"cancel,omitempty"`
}

// Removed is the last record: the folder goes after it.
type Removed struct {
	Forced bool `json:"forced,omitempty"`
}

// Noticed makes a notice due.
type Noticed struct {
	Key    string   `json:"key"`
	On     Occasion `json:"on"`
	Detail string   `json:"detail,omitempty"`
}

// Sent says that notices were sent.
type Sent struct {
	Keys []string `json:"keys"`
}

func (Created) kind() string   { return "created" }
func (Claimed) kind() string   { return "claimed" }
func (Skipped) kind() string   { return "skipped" }
func (Working) kind() string   { return "working" }
func (Regrouped) kind() string { return "regrouped" }
func (Verifying) kind() string { return "verifying" }
func (Landing) kind() string   { return "landing" }
func (Asked) kind() string     { return "asked" }
func (Decided) kind() string   { return "decided" }
func (Voided) kind() string    { return "voided" }
func (Ended) kind() string     { return "ended" }
func (HaltSet) kind() string   { return "halted" }
func (GoalMet) kind() string   { return "goal_met" }
func (Buried) kind() string    { return "buried" }
func (PauseSet) kind() string  { return "paused" }
func (Resumed) kind() string   { return "resumed" }
func (Cleared) kind() string   { return "cleared" }
func (RetireSet) kind() string { return "retired" }
func (Removed) kind() string   { return "removed" }
func (Noticed) kind() string   { return "noticed" }
func (Sent) kind() string      { return "sent" }
