// Package cursor is the state machine of a run: which step is current, what is
// handed out to whom, which questions are open, where each package lies. It
// promises that a report completes only what its caller was handed, that every
// state which is not final has a transition out of it, and that state changes
// through Evolve alone. It is pure: the same state, facts and time give the
// same events. Values are not changed after they were made; all functions may
// be called concurrently.
package cursor

import (
	"maps"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Version is the version of Evolve. A view made by another version is folded
// anew from the journal.
const Version = 3

// Holder is whom work is handed to: an agent and, where one agent's name is
// shared by several processes, a worker. The zero Holder is nobody.
type Holder struct {
	Agent  string `json:"agent"`
	Worker string `json:"worker,omitempty"`
}

// IsZero tells whether the holder is nobody.
func (h Holder) IsZero() bool { return h == Holder{} }

// String is the holder as messages show it.
func (h Holder) String() string {
	switch {
	case h.IsZero():
		return "nobody"
	case h.Worker == "":
		return h.Agent
	}
	return h.Agent + " (worker " + h.Worker + ")"
}

// Result is what a caller reports of its work.
type Result string

// The results. Question is never reported: it is what an executor makes of a
// success that it cannot finish yet.
const (
	Success  Result = "success"
	Failed   Result = "failed"
	Blocked  Result = "blocked"
	Question Result = "question"
)

// Phase is where a run as a whole stands.
type Phase string

// The phases. All but Running are final for the run.
const (
	Running  Phase = "running"
	Done     Phase = "done"
	Canceled Phase = "canceled"
	Aborted  Phase = "aborted"
)

// Stop says why a step or a package goes no further without an operator.
type Stop string

// The stops. NoStop is the zero value.
const (
	NoStop   Stop = ""
	Failure  Stop = "failed"
	Block    Stop = "blocked"
	Rejected Stop = "rejected"
)

// State is a run after some commit. It grows with what is open: completed steps
// are bits, and of reports only each holder's last is kept.
type State struct {
	Run        string `json:"run"`
	Mission    string `json:"mission"`
	Type       string `json:"type"`
	Definition string `json:"definition"`         // digest of the frozen definition
	Grants     string `json:"grants"`             // digest of what plugins are granted, as frozen
	Commands   string `json:"commands,omitempty"` // digest of the commands, pins and write grants, as frozen
	Seed       string `json:"seed"`               // what plugins' randomness comes from
	Source     Source `json:"source,omitempty"`
	Phase      Phase  `json:"phase"`
	Reason     string `json:"reason,omitempty"`   // of an abort
	Migrated   uint64 `json:"migrated,omitempty"` // the revision of the newest migration; 0: it goes by what it froze at its start

	Cursor   Cursor             `json:"cursor"`
	Packages map[string]Package `json:"packages,omitempty"`
	Receipts []Receipt          `json:"receipts,omitempty"` // newest last, one per holder
	Moved    Change             `json:"moved"`              // the newest change of the cursor
	Revision uint64             `json:"revision"`

	Unpublished *Unpublished `json:"unpublished,omitempty"` // nil: every artifact lies in its place
}

// Unpublished is a record whose artifacts are not known to lie in their places.
// There is at most one: the next commit finishes it before anything else.
type Unpublished struct {
	Revision uint64   `json:"revision"`
	Paths    []string `json:"paths"`
}

// Source tells where packages' lanes live.
type Source string

// The sources. The empty Source is not settled yet: the first package handed
// out settles it for the run.
const (
	Journal    Source = "journal"
	KittySpecs Source = "kitty-specs"
)

// Cursor is the run's state apart from packages.
type Cursor struct {
	Count     uint64            `json:"count"` // its own changes
	Pos       int               `json:"pos"`
	Step      string            `json:"step"`
	Attempt   int               `json:"attempt"`
	Failures  int               `json:"failures,omitempty"` // of the attempts since the step was entered
	Stop      Stop              `json:"stop,omitempty"`
	Reason    string            `json:"reason,omitempty"`   // of Stop
	Feedback  string            `json:"feedback,omitempty"` // why the last attempt failed
	Handover  string            `json:"handover,omitempty"` // what an executor left for the next prompt
	Issue     *Issue            `json:"issue,omitempty"`    // what is handed out, other than packages
	Done      mission.Bits      `json:"done"`
	Inputs    map[string]string `json:"inputs,omitempty"`
	Answers   map[string]Answer `json:"answers,omitempty"` // by decision id
	Questions []Asking          `json:"questions,omitempty"`
}

// Package is what the run knows of a work package. Lane, Since, Holder and Author
// are set only where the journal is the source of lanes.
type Package struct {
	Count    uint64         `json:"count"` // its own changes
	Lane     mission.Lane   `json:"lane,omitempty"`
	From     mission.Lane   `json:"from,omitempty"` // the lane before blocked
	Since    time.Time      `json:"since,omitzero"` // of the newest change of lane or holder
	Holder   Holder         `json:"holder,omitzero"`
	Author   Holder         `json:"author,omitzero"`
	Attempts map[string]int `json:"attempts,omitempty"` // by step, those begun
	Failures map[string]int `json:"failures,omitempty"` // by step, of the attempts since its last success
	Stop     Stop           `json:"stop,omitempty"`     // kept back until run retry
	StopAt   string         `json:"stop_at,omitempty"`  // the step that it stopped at
	Reason   string         `json:"reason,omitempty"`   // of Stop
	Feedback string         `json:"feedback,omitempty"` // for the next prompt
	Handover string         `json:"handover,omitempty"` // what an executor left for the next prompt
	Issue    *Issue         `json:"issue,omitempty"`

	Logged   uint64       `json:"logged,omitempty"`    // revision of the newest move that this run made in the lane log; 0: none
	LoggedTo mission.Lane `json:"logged_to,omitempty"` // where that move led
}

// Issue is one handing-out of work.
type Issue struct {
	Token    string    `json:"token"`
	Pos      int       `json:"pos"`
	Step     string    `json:"step"` // with also, the step that lends its rules
	Package  string    `json:"package,omitempty"`
	Attempt  int       `json:"attempt"`
	Holder   Holder    `json:"holder"`
	Since    time.Time `json:"since"`
	Revision uint64    `json:"revision"`
}

// Asking is one asking of a question. The same question asked again has another
// token.
type Asking struct {
	ID       string   `json:"id"`
	Token    string   `json:"token"`
	Key      string   `json:"key,omitempty"` // the input that the answer sets
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"`

	Postponed *Postponement `json:"postponed,omitempty"` // nil: it was not; never in an event
}

// Postponement says that a question is known and waits: who put it off, when and
// why. The question stays open and keeps its step closed.
type Postponement struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Answer is how a question was answered.
type Answer struct {
	Value   string   `json:"value"`
	By      string   `json:"by"`
	Token   string   `json:"token,omitempty"`   // of the asking
	Reason  string   `json:"reason,omitempty"`  // what was said with it
	Options []string `json:"options,omitempty"` // of the asking
	Used    string   `json:"used,omitempty"`    // the first step that was completed with it; "": it may still be replaced
}

// Receipt is what a run remembers of the last report that it accepted from a
// holder.
type Receipt struct {
	Holder Holder `json:"holder"`
	Token  string `json:"token"`
	Result Result `json:"result"`
	Plan   string `json:"plan,omitempty"` // the saved plan that it came from
}

// Change says who changed the cursor last, for those whose plan it made stale.
type Change struct {
	Revision uint64    `json:"revision"`
	By       string    `json:"by"`
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
}

// Issues lists what is handed out: the step's issue or the packages', by
// package id.
func (s State) Issues() []Issue {
	var open []Issue
	if s.Cursor.Issue != nil {
		open = append(open, *s.Cursor.Issue)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Packages)) {
		if issue := s.Packages[id].Issue; issue != nil {
			open = append(open, *issue)
		}
	}
	return open
}

// Issue finds the open issue with a token.
func (s State) Issue(token string) (Issue, bool) {
	for _, issue := range s.Issues() {
		if issue.Token == token {
			return issue, true
		}
	}
	return Issue{}, false
}

// Held lists the open issues of a holder.
func (s State) Held(by Holder) []Issue {
	return slices.DeleteFunc(s.Issues(), func(i Issue) bool { return i.Holder != by })
}

// Asking finds the open asking of a question.
func (s State) Asking(id string) (Asking, bool) {
	for _, q := range s.Cursor.Questions {
		if q.ID == id {
			return q, true
		}
	}
	return Asking{}, false
}

// inUse tells whether a token is that of open work, of an open question, or of a
// report that is remembered.
func (s State) inUse(token string) bool {
	is := func(i *Issue) bool { return i != nil && i.Token == token }
	for _, p := range s.Packages {
		if is(p.Issue) {
			return true
		}
	}
	return is(s.Cursor.Issue) || slices.ContainsFunc(s.Cursor.Questions, func(q Asking) bool { return q.Token == token }) ||
		slices.ContainsFunc(s.Receipts, func(r Receipt) bool { return r.Token == token })
}

// Receipt is the last accepted report of a holder.
func (s State) Receipt(by Holder) (Receipt, bool) {
	for _, r := range s.Receipts {
		if r.Holder == by {
			return r, true
		}
	}
	return Receipt{}, false
}
