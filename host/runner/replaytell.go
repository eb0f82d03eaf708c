package runner

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// Saying is one event in words, and what stood behind it.
type Saying struct {
	Event    string   `json:"event"` // its kind
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// tell says an event in words. One that this version does not know is shown as
// it stands.
func tell(e commit.RecordedEvent[cursor.Event]) Saying {
	s := Saying{Event: kindIn(e.Raw), Evidence: []string{}}
	if !e.Known {
		s.Text = "not understood by this version: " + string(e.Raw)
		return s
	}
	s.Text = wording(e.Event)
	if r, ok := e.Event.(cursor.Reported); ok {
		s.Evidence = append(s.Evidence, evidenceOf(r)...)
	}
	return s
}

// kindIn is the kind of an event as the journal has it.
func kindIn(raw json.RawMessage) string {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &outer); err != nil || len(outer) == 0 {
		return "unknown"
	}
	return sortedKeys(outer)[0]
}

// wording is one sentence for each kind of event.
func wording(e cursor.Event) string {
	switch e := e.(type) {
	case cursor.Started:
		return tellStarted(e)
	case cursor.Entered:
		return "step " + e.Step + " is current"
	case cursor.Reported:
		return tellReported(e)
	case cursor.Issued:
		return fmt.Sprintf("%s is handed to %s: attempt %d, token %s", workOf(e.Step, e.Package), e.Holder, e.Attempt, e.Token)
	case cursor.Completed:
		return withReason("step "+e.Step+" is complete: "+string(e.How), e.Reason)
	case cursor.Stopped:
		return withReason(workOf(e.Step, e.Package)+" stands still: "+string(e.Stop), e.Reason)
	case cursor.Retried:
		return withReason(fmt.Sprintf("%s may be tried again, as attempt %d", workOf(e.Step, e.Package), e.Attempt), e.Reason)
	case cursor.Released:
		return withReason("the work of token "+e.Token+" is taken from its holder", e.Reason)
	case cursor.Moved:
		return tellMoved(e)
	case cursor.Finished:
		if e.Canceled {
			return "the run is over: every package was canceled"
		}
		return "the run is over: done"
	case cursor.RunAborted:
		return withReason("the run is aborted", e.Reason)
	}
	if text, ok := asking(e); ok {
		return text
	}
	return upheaval(e)
}

// asking words what happens to questions and inputs.
func asking(e cursor.Event) (string, bool) {
	switch e := e.(type) {
	case cursor.Asked:
		text := fmt.Sprintf("question %s is asked: %q, token %s", e.ID, e.Question, e.Token)
		if len(e.Options) > 0 {
			text += ", options " + strings.Join(e.Options, ", ")
		}
		return text, true
	case cursor.Answered:
		text := fmt.Sprintf("question %s is answered by %s: %q", e.ID, e.By, e.Value)
		if e.Replaces != "" {
			text += fmt.Sprintf(", in place of %q", e.Replaces)
		}
		return withReason(text, e.Reason), true
	case cursor.Postponed:
		return withReason("question "+e.ID+" is put off by "+e.By, e.Reason), true
	case cursor.Withdrawn:
		return withReason("question "+e.ID+" is withdrawn by "+e.By, e.Reason), true
	case cursor.InputsSet:
		var given []string
		for _, key := range sortedKeys(e.Inputs) {
			given = append(given, fmt.Sprintf("%s = %q", key, e.Inputs[key]))
		}
		return "inputs: " + strings.Join(given, ", "), true
	}
	return "", false
}

// upheaval words what changes more than the next step, and what becomes of
// artifacts.
func upheaval(e cursor.Event) string {
	switch e := e.(type) {
	case cursor.Reopened:
		text := fmt.Sprintf("%d completions are taken back", len(e.Positions))
		if len(e.Audits) > 0 {
			text += "; to be decided again: " + strings.Join(e.Audits, ", ")
		}
		return withReason(text, e.Reason)
	case cursor.Rewound:
		text := fmt.Sprintf("the run is put back to revision %d, at step %s", e.To, e.Cursor.Step)
		if e.Step != "" {
			text += ", before the completion of step " + e.Step
		}
		if len(e.Packages) > 0 {
			text += ", with the lanes of " + strings.Join(sortedKeys(e.Packages), ", ")
		}
		return withReason(text, e.Reason)
	case cursor.Migrated:
		text := fmt.Sprintf("the run goes on by definition %s%s", shortSum(e.Definition), withPins(e.Plugins))
		if len(e.Dropped) > 0 {
			text += "; questions dropped: " + strings.Join(e.Dropped, ", ")
		}
		return withReason(text, e.Reason)
	case cursor.Published:
		return fmt.Sprintf("the artifacts of revision %d lie in their places: %s", e.Revision, strings.Join(e.Paths, ", "))
	case cursor.Discarded:
		return withReason(fmt.Sprintf("the artifacts of revision %d are given up: %s", e.Revision, strings.Join(e.Paths, ", ")), e.Reason)
	}
	return fmt.Sprintf("%+v", e)
}

func tellStarted(e cursor.Started) string {
	text := fmt.Sprintf("mission %s of type %s begins, by definition %s%s", e.Mission, e.Type, shortSum(e.Definition), withPins(e.Plugins))
	if e.Adopted != nil {
		text += ", taking over the run " + e.Adopted.Run + " of the Python program"
	}
	return text
}

func tellReported(e cursor.Reported) string {
	text := fmt.Sprintf("%s reports %s on %s", e.By, e.Result, workOf(e.Step, e.Package))
	if e.By.IsZero() {
		text = fmt.Sprintf("%s is reported on %s", e.Result, workOf(e.Step, e.Package))
	}
	if e.Token != "" {
		text += ", token " + e.Token
	}
	if e.Outcome != "" {
		text += ", which its executor makes " + string(e.Outcome)
	}
	if e.Rejection {
		text += ", a rejection"
	}
	if e.Plan != "" {
		text += ", by the saved plan " + e.Plan
	}
	return withReason(text, e.Reason)
}

func tellMoved(e cursor.Moved) string {
	text := fmt.Sprintf("%s goes from %s to %s", e.Package, e.From, e.To)
	if !e.Holder.IsZero() {
		text += ", held by " + e.Holder.String()
	}
	if e.Force {
		text += ", forced"
	}
	return withReason(text, e.Reason)
}

func workOf(step, pkg string) string {
	if pkg == "" {
		return "step " + step
	}
	return pkg + " of step " + step
}

// withReason adds a reason, where one was given.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return fmt.Sprintf("%s (%q)", text, reason)
}

func withPins(pins map[string]string) string {
	var all []string
	for _, name := range sortedKeys(pins) {
		all = append(all, name+" "+shortSum(pins[name]))
	}
	if len(all) == 0 {
		return ""
	}
	return ", with plugins " + strings.Join(all, ", ")
}

// shortSum is enough of a digest for an eye to tell it from others.
func shortSum(sum string) string { return sum[:min(len(sum), 12)] }
