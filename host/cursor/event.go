package cursor

import "github.com/spec-kitty/step-runner/host/mission"

// Event is one thing that happened in a run. The kinds are those of this file;
// their JSON is part of the published journal format, so a field once shipped
// keeps its name and meaning.
type Event interface{ kind() string }

// Started opens the journal.
type Started struct {
	Run        string            `json:"run"`
	Mission    string            `json:"mission"`
	Type       string            `json:"type"`
	Definition string            `json:"definition"`         // digest of the frozen definition
	Index      string            `json:"index"`              // SHA-256 of its index
	Plugins    map[string]string `json:"plugins,omitempty"`  // name to SHA-256
	Grants     string            `json:"grants,omitempty"`   // SHA-256 of what they are granted, as frozen
	Commands   string            `json:"commands,omitempty"` // SHA-256 of the commands, pins and write grants, as frozen
	Seed       string            `json:"seed"`
	Adopted    *AdoptedFrom      `json:"adopted,omitempty"` // nil: it began anew
}

// Entered makes a step current.
type Entered struct {
	Pos  int    `json:"pos"`
	Step string `json:"step"`
}

// Asked opens a question.
type Asked struct {
	Asking
}

// Answered closes one.
type Answered struct {
	ID    string `json:"id"`
	Token string `json:"token"`
	Key   string `json:"key,omitempty"`
	Value string `json:"value"`
	By    string `json:"by"`

	Reason   string `json:"reason,omitempty"`
	Replaces string `json:"replaces,omitempty"` // the value that this one takes the place of
}

// Postponed puts an open question off. It stays open.
type Postponed struct {
	ID     string `json:"id"`
	Token  string `json:"token"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Withdrawn ends the asking of a question without an answer.
type Withdrawn struct {
	ID     string `json:"id"`
	Token  string `json:"token"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// InputsSet gives inputs a value without a question: at the start, or by an
// executor.
type InputsSet struct {
	Inputs map[string]string `json:"inputs"`
}

// Issued hands work out.
type Issued struct {
	Token   string `json:"token"`
	Pos     int    `json:"pos"`
	Step    string `json:"step"`
	Package string `json:"package,omitempty"`
	Attempt int    `json:"attempt"`
	Holder  Holder `json:"holder"`
	Source  Source `json:"source,omitempty"` // where the package's lane lives
}

// Reported is an accepted report. It ends its issue.
type Reported struct {
	Token   string          `json:"token,omitempty"` // none: a package step's own report
	Step    string          `json:"step"`
	Package string          `json:"package,omitempty"`
	Result  Result          `json:"result"`            // as the caller said
	Outcome Result          `json:"outcome,omitempty"` // as the executor had it, where it differs
	Reason  string          `json:"reason,omitempty"`
	By      Holder          `json:"by"`
	Plan    string          `json:"plan,omitempty"`
	Prompt  string          `json:"prompt,omitempty"` // from the executor, for the next prompt
	Notes   []string        `json:"notes,omitempty"`
	Guards  []GuardEvidence `json:"guards,omitempty"`
	Calls   []Call          `json:"calls,omitempty"` // of plugins and commands, the executor's first

	Artifacts []Artifact `json:"artifacts,omitempty"` // from the executor: files to be made of this record

	// Rejection: the package failed into a lane that the step does not take
	// from, so no attempt is used.
	Rejection bool `json:"rejection,omitempty"`
}

// GuardEvidence is what a guard saw when it allowed.
type GuardEvidence struct {
	Guard    string `json:"guard"`
	Verdict  string `json:"verdict"`
	Examined string `json:"examined,omitempty"`
}

// Completed ends a step for good.
type Completed struct {
	Pos    int    `json:"pos"`
	Step   string `json:"step"`
	How    How    `json:"how"`
	Reason string `json:"reason,omitempty"`
}

// How says what completed a step.
type How string

// The ways to complete a step.
const (
	BySuccess  How = "success"
	ByApproval How = "approved"
	BySkip     How = "skipped"
	ByAdoption How = "adopted" // in a run of the Python program
)

// Stopped keeps a step, or one package, from going on without an operator.
type Stopped struct {
	Step    string `json:"step"`
	Package string `json:"package,omitempty"`
	Stop    Stop   `json:"stop"`
	Reason  string `json:"reason,omitempty"`
}

// Retried takes a stop away. Attempt is the one that comes next.
type Retried struct {
	Step    string `json:"step"`
	Package string `json:"package,omitempty"`
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason,omitempty"`
}

// Reopened takes back completions: a rejected audit opens the way from one step
// again.
type Reopened struct {
	Positions []int    `json:"positions"`
	Audits    []string `json:"audits,omitempty"` // decisions to be asked again
	Reason    string   `json:"reason,omitempty"`
}

// Moved moves a package along one edge, or with force anywhere; where From is
// To, only its holder changes. With Source kitty-specs the package lies in the
// lane log, which was appended to before the record.
type Moved struct {
	Package string       `json:"package"`
	From    mission.Lane `json:"from"`
	To      mission.Lane `json:"to"`
	Holder  Holder       `json:"holder,omitzero"`
	Author  Holder       `json:"author,omitzero"` // nobody: as before
	Reason  string       `json:"reason,omitempty"`
	Force   bool         `json:"force,omitempty"`  // somebody forced it, or it is off the edges
	Source  Source       `json:"source,omitempty"` // "": the run's journal
	Ends    string       `json:"ends,omitempty"`   // token of the issue whose report this move is; not in the journal source
}

// Released takes an issue from its holder; the work keeps its attempt.
type Released struct {
	Token  string `json:"token"`
	Reason string `json:"reason,omitempty"`
}

// Rewound puts the run back to where it stood after an earlier revision. What
// was handed out is void.
type Rewound struct {
	To       uint64             `json:"to"`
	Step     string             `json:"step,omitempty"`     // whose completion is taken back; none: To was named
	Cursor   Cursor             `json:"cursor"`             // as it was; questions are asked again by events of their own
	Packages map[string]Package `json:"packages,omitempty"` // those that go back too, as they were
	Reason   string             `json:"reason"`
}

// Migrated has the run go on by another definition.
type Migrated struct {
	Definition string            `json:"definition"` // as in Started
	Index      string            `json:"index"`
	Plugins    map[string]string `json:"plugins,omitempty"`
	Grants     string            `json:"grants,omitempty"`
	Commands   string            `json:"commands,omitempty"`
	Done       mission.Bits      `json:"done"`              // what is complete, by the new positions
	Steps      map[string]int    `json:"steps,omitempty"`   // new positions of the current step and of those handed out
	Dropped    []string          `json:"dropped,omitempty"` // open questions that end with it
	Reason     string            `json:"reason,omitempty"`
}

// Finished ends the run.
type Finished struct {
	Canceled bool `json:"canceled,omitempty"` // every package was canceled
}

// RunAborted ends the run before its end.
type RunAborted struct {
	Reason string `json:"reason"`
}

// Published says that the artifacts of an earlier record lie in their places.
type Published struct {
	Revision uint64   `json:"revision"` // of that record
	Paths    []string `json:"paths"`
}

// Discarded says that the artifacts of an earlier record will not be made: what
// stands in their places stays. Those that were made before stay too.
type Discarded struct {
	Revision uint64   `json:"revision"`
	Paths    []string `json:"paths"`
	Reason   string   `json:"reason"`
}

func (Started) kind() string    { return "started" }
func (Entered) kind() string    { return "entered" }
func (Asked) kind() string      { return "asked" }
func (Answered) kind() string   { return "answered" }
func (Postponed) kind() string  { return "postponed" }
func (Withdrawn) kind() string  { return "withdrawn" }
func (InputsSet) kind() string  { return "inputs_set" }
func (Issued) kind() string     { return "issued" }
func (Reported) kind() string   { return "reported" }
func (Completed) kind() string  { return "completed" }
func (Stopped) kind() string    { return "stopped" }
func (Retried) kind() string    { return "retried" }
func (Reopened) kind() string   { return "reopened" }
func (Moved) kind() string      { return "moved" }
func (Released) kind() string   { return "released" }
func (Rewound) kind() string    { return "rewound" }
func (Migrated) kind() string   { return "migrated" }
func (Finished) kind() string   { return "finished" }
func (RunAborted) kind() string { return "aborted" }
func (Published) kind() string  { return "published" }
func (Discarded) kind() string  { return "discarded" }
