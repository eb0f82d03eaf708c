// Package mission holds definitions as values: steps, guards, questions,
// audits and work-package rules, and the graph they form. It promises that a
// Definition which Check accepts can be walked to its end, and it is pure: no
// files, no clock, no randomness. Values are not changed after they were made
// and may be read by any number of goroutines.
package mission

// Definition is one mission type. Steps lie in the order in which they are
// chosen: the file's order, audits after steps. A step's place in Steps is its
// position; positions are what the journal's events and the set of completed
// steps refer to, so a frozen definition never reorders them.
type Definition struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Steps   []Step `json:"steps"`
}

// View is a definition that is read by position. A Definition is one in
// memory; Index is one that reads single steps of a frozen file, so that a call
// on a mission of ten thousand steps decodes two of them.
type View interface {
	// Len is the number of steps.
	Len() int
	// Step is the step at a position in [0, Len).
	Step(pos int) (Step, error)
	// Position finds a step by its id; ok is false where there is none.
	Position(id string) (pos int, ok bool, err error)
	// Deps are the positions that must be complete before pos is chosen.
	Deps(pos int) ([]int, error)
	// HasPackages tells whether any step works on packages or asks where one lies.
	HasPackages() bool
}

// Step is one node of a definition: work for an agent, a plugin's work (auto),
// work on packages, or an audit.
type Step struct {
	ID          string         `json:"id"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Action      string         `json:"action"` // defaults to ID
	Profile     string         `json:"profile,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	DependsOn   []string       `json:"depends_on,omitempty"`
	Prompt      *Prompt        `json:"prompt,omitempty"` // nil: title, description and report command
	Inputs      []Input        `json:"inputs,omitempty"`
	Guards      []Guard        `json:"guards,omitempty"`
	Executor    *Executor      `json:"executor,omitempty"`
	Retry       int            `json:"retry,omitempty"` // further attempts after a failed one, 0 to 100
	Packages    *PackageRule   `json:"work_packages,omitempty"`
	Audit       *Audit         `json:"audit,omitempty"`
}

// Prompt is the text that a step's holder works from. The text is frozen with
// the definition; Path says where it came from, for messages.
type Prompt struct {
	Text    string `json:"text"`
	Path    string `json:"path,omitempty"`
	Literal bool   `json:"literal,omitempty"` // template = false: taken as it is
}

// Input is a value that a step needs before it is handed out.
type Input struct {
	Key      string   `json:"key"` // letters, digits, _
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"`
	Default  *string  `json:"default,omitempty"` // set: not asked
}

// Guard is one check that must allow a step to be completed. Exactly one of its
// kinds is set.
type Guard struct {
	Artifact     *ArtifactGuard `json:"artifact,omitempty"`
	Plugin       *PluginGuard   `json:"plugin,omitempty"`
	Input        string         `json:"input,omitempty"` // the key that must have a value
	WorkPackages *PackageGuard  `json:"work_packages,omitempty"`
	Command      string         `json:"command,omitempty"` // the declared command that must exit with 0
	Event        *EventGuard    `json:"event,omitempty"`
	Message      string         `json:"message,omitempty"` // shown in place of our own words
}

// ArtifactGuard wants files in the mission's folder: at least MinCount regular
// files that match Path (a path or a glob), each with at least MinBytes bytes
// and passing both expressions (RE2).
type ArtifactGuard struct {
	Path        string `json:"path"`
	Contains    string `json:"contains,omitempty"`
	NotContains string `json:"not_contains,omitempty"`
	MinBytes    int64  `json:"min_bytes,omitempty"` // at least 1 unless set: an empty file is no artifact
	MinCount    int    `json:"min_count,omitempty"` // at least 1
}

// MaxArtifact is how large an artifact may be that a guard reads, in bytes.
const MaxArtifact = 16 << 20

// PluginGuard asks a plugin's guard verb. With is passed on to it; it holds what
// JSON has, numbers as json.Number.
type PluginGuard struct {
	Plugin string         `json:"plugin"`
	With   map[string]any `json:"with,omitempty"`
}

// EventGuard wants events of a type in the mission's event log: at least Min of
// them (0: one).
type EventGuard struct {
	Type string `json:"type"`
	Min  int    `json:"min,omitempty"`
}

// MaxEvents bounds EventGuard's Min.
const MaxEvents = 1_000_000

// PackageGuard wants one package in one of the lanes.
type PackageGuard struct {
	Package string `json:"package"`
	Lanes   []Lane `json:"lanes"`
}

// Executor is the plugin that runs after success was reported and before the
// guards. With Auto, the call that reaches the step runs it.
type Executor struct {
	Plugin string         `json:"plugin"`
	With   map[string]any `json:"with,omitempty"`
	Auto   bool           `json:"auto,omitempty"`
}

// PackageRule says how a step works on packages: from which lanes it offers
// them, which lane handing out, success and failure lead to, and when the step
// is over.
type PackageRule struct {
	Take       []Lane   `json:"take"`
	Claim      Lane     `json:"claim"`
	Success    Lane     `json:"success"`
	Failed     Lane     `json:"failed"`
	Until      []Lane   `json:"until"`
	Also       []string `json:"also,omitempty"`
	AllowNone  bool     `json:"allow_none,omitempty"`
	SelfReview bool     `json:"self_review,omitempty"` // the author of a package may take and approve it here
}

// Enforcement says what an audit is: a blocking one asks a question, an
// advisory one is handed out as a step.
type Enforcement string

// The two enforcements.
const (
	Blocking Enforcement = "blocking"
	Advisory Enforcement = "advisory"
)

// Audit makes a step an audit.
type Audit struct {
	Question    string      `json:"question"`
	Enforcement Enforcement `json:"enforcement"`
	OnReject    string      `json:"on_reject,omitempty"` // the step that a rejection opens again
}
