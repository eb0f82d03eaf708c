package runner

import (
	"github.com/spec-kitty/step-runner/host/lanes"
)

// Schema is the version of the answers' JSON.
const Schema = 1

// Kind says what an answer asks of its receiver.
type Kind string

// The kinds of answers.
const (
	KindStep     Kind = "step"              // do this
	KindDecision Kind = "decision_required" // answer this first
	KindBlocked  Kind = "blocked"           // not so, or not now; reason_code says why
	KindTerminal Kind = "terminal"          // the run is over
	KindQuery    Kind = "query"             // how things stand; nothing was changed
)

// Answer is what `next` and the run verbs print with --json. Pointers are null
// where there is nothing to say; lists never are.
type Answer struct {
	Schema        int     `json:"schema"`
	Kind          Kind    `json:"kind"`
	Agent         *string `json:"agent"`
	MissionSlug   string  `json:"mission_slug"`
	MissionNumber string  `json:"mission_number"`
	MissionType   string  `json:"mission_type"`
	Mission       string  `json:"mission"`
	MissionState  string  `json:"mission_state"`
	Timestamp     string  `json:"timestamp"`
	RunID         *string `json:"run_id"`
	Revision      uint64  `json:"revision"`
	StateRoot     string  `json:"state_root"`
	Origin        Origin  `json:"origin"`

	StepID        *string        `json:"step_id"`
	Action        *string        `json:"action"`
	WPID          *string        `json:"wp_id"`
	WorkspacePath *string        `json:"workspace_path"`
	PromptFile    *string        `json:"prompt_file"`
	Token         *string        `json:"token"`
	Attempt       *int           `json:"attempt"`
	Holder        *HolderSince   `json:"holder"`
	Report        *string        `json:"report"` // the command line to report with
	StepMetadata  map[string]any `json:"step_metadata"`
	Profile       string         `json:"profile"`

	ReasonCode    *string  `json:"reason_code"`
	Reason        *string  `json:"reason"` // begins with the code
	GuardFailures []string `json:"guard_failures"`
	Guards        []Guard  `json:"guards"`
	NotEvaluated  []string `json:"not_evaluated"`
	Recover       []string `json:"recover"`

	DecisionID    *string    `json:"decision_id"`
	DecisionToken *string    `json:"decision_token"`
	InputKey      *string    `json:"input_key"`
	Question      *string    `json:"question"`
	Options       []string   `json:"options"` // null without options, as callers know it
	OpenDecisions []Decision `json:"open_decisions"`
	Answered      *string    `json:"answered"`
	Answer        *string    `json:"answer"`

	IsQuery     bool            `json:"is_query"`
	PreviewStep *string         `json:"preview_step"`
	Recorded    bool            `json:"recorded"`
	Replayed    bool            `json:"replayed"`
	Planned     bool            `json:"planned"`
	Progress    *lanes.Progress `json:"progress"`
	Warnings    []Warning       `json:"warnings"`
}

// Origin says where the definition comes from.
type Origin struct {
	Tier string `json:"mission_tier"` // always project
	Path string `json:"mission_path"`
}

// HolderSince is who holds the work and since when.
type HolderSince struct {
	Agent  string `json:"agent"`
	Worker string `json:"worker"`
	Since  string `json:"since"`
}

// Guard is one guard's verdict.
type Guard struct {
	Guard    string `json:"guard"`
	Verdict  string `json:"verdict"` // allow, refuse or error
	Expected string `json:"expected"`
	Examined string `json:"examined"`
	Fix      string `json:"fix"`

	message string // the definition's own words
	damage  error  // what the run froze of the guard is damaged
}

// Decision is an open question.
type Decision struct {
	ID       string   `json:"decision_id"`
	Token    string   `json:"decision_token"`
	InputKey *string  `json:"input_key"`
	Question string   `json:"question"`
	Options  []string `json:"options"`

	Postponed *Postponed `json:"postponed"` // null: it was not
}

// Postponed says who put a question off, and why. It is open all the same.
type Postponed struct {
	By     string `json:"by"`
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// Warning is something to know that changed no outcome.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// warnConfig is the warning of a configuration that is not sound in all parts.
const warnConfig = "config_invalid"

// faultyConfig warns where entries of the configuration cannot be used: those that
// a call needs are an error; of the others it says that they are there.
func (p *Project) faultyConfig() []Warning {
	faults := p.Config.Faults
	if len(faults) == 0 {
		return nil
	}
	more := ""
	if len(faults) > 1 {
		more = " (and " + itoa(len(faults)-1) + " more)"
	}
	return []Warning{{warnConfig, faults[0].String() + more + "; `spec-kitty mission validate" + p.rootFlag() + "` lists all. The rest of the configuration is used"}}
}

// text is a pointer to a string, nil for the empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
