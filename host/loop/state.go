// Package loop is the state machine of a loop: recurring work under gates,
// approvals, limits and a verifier. It promises that one tick at a time owns a
// loop, by a token that rises with each claim and is never given again; that a
// tick's outcome counts only while its token is the loop's; that what an
// operator decided is never undone by a run's end, since each verb touches its
// own fields; that every state but the last has a way out; and that state
// changes through Evolve alone. It is pure: the same state, facts and time give
// the same events. Values are not changed after they were made; all functions
// may be called concurrently.
package loop

import "time"

// Version is the version of Evolve. A view made by another version is folded
// anew from the journal.
const Version = 3

// Schema is the format of a loop's state. A loop of a higher one was made by a
// newer version.
const Schema = 1

// State is a loop after some commit. It grows with what is open, never with
// what is finished.
type State struct {
	UID      string    `json:"uid"` // random, made at creation: two loops of one name differ by it
	Name     string    `json:"name"`
	Schema   int       `json:"schema"`
	Revision uint64    `json:"revision"`
	Created  time.Time `json:"created"`

	Control  Control   `json:"control"`            // written by operator verbs
	Token    uint64    `json:"token"`              // the newest that was given, or is known to have been
	Claim    *Claim    `json:"claim,omitempty"`    // written by the tick that holds the token, and the reaper
	Orphans  []Orphan  `json:"orphans,omitempty"`  // of burnt tokens, oldest first
	Approval *Approval `json:"approval,omitempty"` // the tick asks and consumes, the operator decides
	Halt     *Halt     `json:"halt,omitempty"`     // the tick sets, clear removes
	Done     *Met      `json:"done,omitempty"`     // likewise: the goal was met
	Count    Count     `json:"count"`
	Last     Last      `json:"last"`
	Due      []Notice  `json:"due,omitempty"` // to be sent, oldest first
	Removed  bool      `json:"removed,omitempty"`
}

// Desired is what the operators want of a loop.
type Desired string

// The wishes.
const (
	Active  Desired = "active"
	Paused  Desired = "paused"
	Stopped Desired = "stopped" // for good
)

// Control is what the operators decided last.
type Control struct {
	Desired Desired   `json:"desired"`
	Cancel  uint64    `json:"cancel,omitempty"` // the token whose run is to end; a token is never used again
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Until   time.Time `json:"until,omitzero"` // a pause that ends by itself
}

// Phase is how far a claim has come.
type Phase string

// The phases of a claim, in order.
const (
	InGate    Phase = "gate"
	InWork    Phase = "work"
	InVerify  Phase = "verify"
	InLanding Phase = "landing"
)

// Claim is a tick's hold of the loop.
type Claim struct {
	Token      uint64        `json:"token"`
	Phase      Phase         `json:"phase"`
	Runner     Runner        `json:"runner"`
	Group      *ProcessGroup `json:"group,omitempty"` // of the foreign process that runs now
	Acquired   time.Time     `json:"acquired"`
	Since      time.Time     `json:"since"` // of the phase
	Definition string        `json:"definition"`
	Rules      Rules         `json:"rules"`
	Slot       time.Time     `json:"slot,omitzero"` // of the schedule; zero: fired by hand
	Grant      *Grant        `json:"grant,omitempty"`
	Base       string        `json:"base,omitempty"`      // commit that the work begins at
	BaseTree   string        `json:"base_tree,omitempty"` // its tree
	Result     string        `json:"result,omitempty"`    // commit that the work left
	Tree       string        `json:"tree,omitempty"`      // its tree
	Branch     string        `json:"branch,omitempty"`    // that the landing moves
	Goal       bool          `json:"goal,omitempty"`      // the goal is met once it has landed
}

// Runner is the process that runs a tick.
type Runner struct {
	Host  string    `json:"host"`
	Boot  string    `json:"boot,omitempty"` // the boot's id; "" where the system has none
	PID   int       `json:"pid"`
	Start string    `json:"start,omitempty"` // the process's start time as the system tells it; "" where it does not
	Up    Span      `json:"up"`              // of the machine at the claim, by the clock that goes on in sleep
	At    time.Time `json:"at"`              // by its wall clock
}

// ProcessGroup is a foreign process that a tick started, with all its children.
type ProcessGroup struct {
	ID    int    `json:"id"`
	Start string `json:"start,omitempty"` // of its leader
}

// Orphan is the process group of a burnt token, until it is known dead.
type Orphan struct {
	Token  uint64       `json:"token"`
	Runner Runner       `json:"runner"`
	Group  ProcessGroup `json:"group"`
}

// Stage is what an approval is about.
type Stage string

// The stages.
const (
	ToStart Stage = "start"
	ToLand  Stage = "land"
)

// Approval is one asking for a person's decision. It stays after a denial or
// its end until clear, so that a second decision is told of the first.
type Approval struct {
	ID       string    `json:"id"`
	Token    uint64    `json:"token"` // of the tick that asked
	Subject  Subject   `json:"subject"`
	Asked    time.Time `json:"asked"`
	Expires  time.Time `json:"expires"`
	Decision Decision  `json:"decision,omitempty"`
	By       string    `json:"by,omitempty"`
	Note     string    `json:"note,omitempty"`
	At       time.Time `json:"at,omitzero"`
}

// Decision is what was decided on an approval; "" is still open.
type Decision string

// The decisions.
const (
	Approved Decision = "approved"
	Denied   Decision = "denied"
)

// Grant is an approval that a claim used up.
type Grant struct {
	ID      string  `json:"id"`
	Token   uint64  `json:"token"` // of the tick that asked
	Subject Subject `json:"subject"`
	By      string  `json:"by"`
}

// Halt keeps a loop from going on without an operator.
type Halt struct {
	Code   Halting   `json:"code"`
	Detail string    `json:"detail,omitempty"`
	Token  uint64    `json:"token,omitempty"`
	At     time.Time `json:"at"`
}

// Met says that the goal was met.
type Met struct {
	Token uint64    `json:"token"`
	At    time.Time `json:"at"`
}

// Count is what limits are held against.
type Count struct {
	Runs       int   `json:"runs"`        // begun: counted when their work is let go
	Failures   int   `json:"failures"`    // in a row
	NoProgress int   `json:"no_progress"` // in a row
	LowContext int   `json:"low_context"` // in a row
	Skips      int   `json:"skips"`       // in a row
	Missed     int   `json:"missed"`      // slots that nobody was there for
	Day        Spend `json:"day"`
	Total      Spend `json:"total"`
}

// Spend is what runs used. What a run did not tell is not zero: it counts as
// unknown.
type Spend struct {
	Date    string `json:"date,omitempty"` // 2006-01-02 in UTC; "" for a total
	Cost    Money  `json:"cost"`
	Tokens  int64  `json:"tokens"`
	Time    Span   `json:"time"`
	Unknown int    `json:"unknown,omitempty"` // runs that did not tell their cost or tokens
}

// Last is what happened last, each of its kind.
type Last struct {
	Attempt   time.Time `json:"attempt,omitzero"` // claim
	Success   time.Time `json:"success,omitzero"`
	Run       *Ended    `json:"run,omitempty"`
	Skip      *Skip     `json:"skip,omitempty"`
	Slot      time.Time `json:"slot,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Verify    string    `json:"verify,omitempty"` // digest of the newest verify failure, until a success
	Overdue   time.Time `json:"overdue,omitzero"` // of the overdue notice since the newest success
	Invalid   time.Time `json:"invalid,omitzero"` // of the notice of an invalid definition since the newest claim
}

// Skip is a firing that did nothing, on purpose.
type Skip struct {
	Reason Code      `json:"reason"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// Notice is something that people are to be told, kept until it was sent.
type Notice struct {
	Key    string    `json:"key"` // token and occasion: the same thing is told once
	On     Occasion  `json:"on"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}
