package abi

import "encoding/json"

// Request is what a plugin reads on stdin for guard and execute: one JSON
// document. The same request and the same files give the same answer.
type Request struct {
	ABI       int               `json:"abi"`                 // Version
	Verb      string            `json:"verb"`                // guard or execute
	Run       Run               `json:"run"`                 // the run that asks
	Mission   Mission           `json:"mission"`             // what it works on
	Workspace string            `json:"workspace,omitempty"` // /workspace, or absent where there is none
	Step      Step              `json:"step"`                // the step in question
	Package   string            `json:"package,omitempty"`   // the work package that is reported, or absent
	Inputs    map[string]string `json:"inputs"`              // values of the run's inputs
	Answers   map[string]string `json:"answers"`             // answers to this plugin's own questions, by key
	Completed []string          `json:"completed"`           // ids of completed steps, oldest first
	Packages  []Package         `json:"packages"`            // the mission's work packages, in file order
	Agent     string            `json:"agent,omitempty"`     // who reports
	Result    string            `json:"result,omitempty"`    // what was reported: success
	Reason    string            `json:"reason,omitempty"`    // the text that came with it
	Now       string            `json:"now"`                 // RFC 3339, UTC; the only clock there is
	Commands  []CommandResult   `json:"commands"`            // results of what the last answer needed
}

// Run names the run.
type Run struct {
	ID       string `json:"id"`       // ULID
	Mission  string `json:"mission"`  // slug
	Type     string `json:"type"`     // mission type
	Revision uint64 `json:"revision"` // commits so far
}

// Mission says where the mission's files are.
type Mission struct {
	Dir string `json:"dir"` // such as /project/kitty-specs/034-pay-by-link
}

// Step is the step that is about to be completed or executed.
type Step struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Attempt int            `json:"attempt"`        // 1 for the first
	With    map[string]any `json:"with,omitempty"` // this plugin's settings in the mission
}

// Package is one work package.
type Package struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Lane         string   `json:"lane"`
	Dependencies []string `json:"dependencies"`
	Path         string   `json:"path,omitempty"` // its file, absolute
}

// CommandResult is what a declared command gave that an answer needed.
type CommandResult struct {
	Command  string `json:"command"`
	Exit     int    `json:"exit"` // -1 where it could not be run or was stopped
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	TimedOut bool   `json:"timed_out,omitempty"`
}

// Encode gives the request's bytes: one line of JSON with keys in a fixed
// order, so that equal requests have equal bytes. ABI is set to Version, and
// lists and objects that are missing are written empty, never null.
func (r Request) Encode() ([]byte, error) {
	r.ABI = Version
	r.Inputs, r.Answers = orEmpty(r.Inputs), orEmpty(r.Answers)
	if r.Completed == nil {
		r.Completed = []string{}
	}
	if r.Commands == nil {
		r.Commands = []CommandResult{}
	}
	packages := make([]Package, len(r.Packages))
	for i, p := range r.Packages {
		if p.Dependencies == nil {
			p.Dependencies = []string{}
		}
		packages[i] = p
	}
	r.Packages = packages
	return json.Marshal(r)
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
