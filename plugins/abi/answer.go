package abi

import "encoding/json"

// Verdict is a guard's answer.
type Verdict string

// The verdicts. ErrorVerdict means that the guard could not judge; it never
// lets a step pass.
const (
	Allow        Verdict = "allow"
	Refuse       Verdict = "refuse"
	ErrorVerdict Verdict = "error"
)

// GuardAnswer answers the verb guard. A refusal has at least one reason, an
// error has a message, and neither has what belongs to the other.
type GuardAnswer struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []Reason `json:"reasons,omitempty"`
	Message string   `json:"message,omitempty"`
}

// Reason says what stands in the way, where, and what to do.
type Reason struct {
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// Outcome is what an executor's work came to.
type Outcome string

// The outcomes.
const (
	Success  Outcome = "success"
	Failed   Outcome = "failed"
	Blocked  Outcome = "blocked"
	Question Outcome = "question"
)

// ExecuteAnswer answers the verb execute. It has either an outcome or needs;
// failed and blocked have at least one reason, question has a question, and
// artifacts come with success alone.
type ExecuteAnswer struct {
	Outcome   Outcome           `json:"outcome,omitempty"`
	Reasons   []Reason          `json:"reasons,omitempty"`
	Inputs    map[string]string `json:"inputs,omitempty"`
	Question  *Ask              `json:"question,omitempty"`
	Prompt    string            `json:"prompt,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Artifacts []Artifact        `json:"artifacts,omitempty"`
	Needs     []Need            `json:"needs,omitempty"`
}

// Ask is a question to whoever works on the mission. Its answer comes back in
// the next request's answers, under Key.
type Ask struct {
	Key      string   `json:"key"` // letters, digits, _
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"` // none: any text
}

// Artifact is a file to be written by the host, once the step is committed.
type Artifact struct {
	Path    string `json:"path"` // relative to the project, slashes; {mission} and {workspace} stand for those folders
	Content string `json:"content"`
}

// Need names a declared command whose result the plugin wants.
type Need struct {
	Command string `json:"command"`
}

// DescribeAnswer answers the verb describe.
type DescribeAnswer struct {
	ABI         int             `json:"abi"` // Version
	Name        string          `json:"name"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Verbs       []string        `json:"verbs"`          // guard, execute
	With        json.RawMessage `json:"with,omitempty"` // JSON Schema of the settings it takes
}
