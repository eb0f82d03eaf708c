// Package guard holds the built-in guards: checks that must allow a step to be
// completed. Each ends in one of three verdicts, and only allow lets a step
// pass: what could not be judged is told apart from what was refused. Guards
// only read, what they read outside the run is named by a fact with its digest,
// so that a change before the commit is seen, and they run no foreign code. All
// functions may be called by any number of goroutines.
package guard

import "github.com/spec-kitty/step-runner/host/mission"

// Verdict is what a guard came to.
type Verdict string

// The three verdicts. Failed is "could not be evaluated": never a pass, and never
// shown as a refusal.
const (
	Allow  Verdict = "allow"
	Refuse Verdict = "refuse"
	Failed Verdict = "error"
)

// Result is one guard's verdict and the words for it.
type Result struct {
	Guard    string   `json:"guard"` // kind and object, such as "artifact spec.md"
	Verdict  Verdict  `json:"verdict"`
	Expected string   `json:"expected"`
	Examined string   `json:"examined"` // what was found
	Fix      string   `json:"fix"`      // what to do; "" with allow
	Message  string   `json:"-"`        // the definition's own words, in place of ours
	Facts    []Fact   `json:"-"`        // what was read outside the run
	Packages []string `json:"-"`        // packages whose lanes were read
}

// Fact is something that was read outside the run: its name, by which Digest
// reads it again, and the digest of what was found.
type Fact struct {
	Name   string
	Digest string
}

// Sentence is a verdict in one sentence for people.
func (r Result) Sentence() string {
	if r.Message != "" && r.Verdict == Refuse {
		return r.Message
	}
	text := r.Guard + ": expected " + r.Expected + "; found " + r.Examined
	if r.Verdict == Failed {
		text = r.Guard + " could not be evaluated: " + r.Examined
	}
	if r.Fix != "" {
		text += " (" + r.Fix + ")"
	}
	return text
}

// PackageAt is a package and the lane it lies in.
type PackageAt struct {
	ID   string
	Lane mission.Lane
}

// Given is what the built-in guards look at.
type Given struct {
	Folder   Folder
	Inputs   map[string]string
	Packages []PackageAt
}

// Evaluate asks one built-in guard. ok is false for a guard that is not built in,
// such as a plugin's or a command: that one is the caller's to ask.
func Evaluate(g mission.Guard, given Given) (result Result, ok bool) {
	switch {
	case g.Artifact != nil:
		result = Artifact(given.Folder, *g.Artifact)
	case g.Input != "":
		result = Input(g.Input, given.Inputs)
	case g.WorkPackages != nil:
		result = WorkPackages(*g.WorkPackages, given.Packages)
	case g.Event != nil:
		result = Event(given.Folder, *g.Event)
	default:
		return Result{}, false
	}
	result.Message = g.Message
	return result, true
}

// Passed tells whether every result allows.
func Passed(results []Result) bool {
	for _, r := range results {
		if r.Verdict != Allow {
			return false
		}
	}
	return true
}
