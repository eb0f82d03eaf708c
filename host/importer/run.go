package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxRun is the greatest size of a run's state, in bytes.
const MaxRun = 16 << 20

// Run is a run of the Python program, as far as another one can go on with it.
type Run struct {
	ID        string
	Type      string   // the mission type's key
	Mission   string   // the slug; "": it does not say
	Completed []string // ids of steps, each once, in the order of their completion
	Issued    string   // the step that is handed out; "": none
	Blocked   string   // why it stands still; "": it does not
	Inputs    map[string]string
	Answers   map[string]RunAnswer // by the id of the question, as audit:release
}

// RunAnswer is an answer to a question.
type RunAnswer struct {
	Value string
	By    string // as human:kim; "": nobody says
}

// runState is the file state.json; what a Run does not need is not looked at.
type runState struct {
	RunID     string                     `json:"run_id"`
	Type      string                     `json:"mission_key"`
	Mission   *string                    `json:"mission_slug"`
	Completed []string                   `json:"completed_steps"`
	Issued    *string                    `json:"issued_step_id"`
	Blocked   *string                    `json:"blocked_reason"`
	Inputs    map[string]json.RawMessage `json:"inputs"`
	Decisions map[string]json.RawMessage `json:"decisions"`
}

// ReadRun reads a run's state.json. The error is a *RefusedError.
func ReadRun(f File) (*Run, error) {
	var s runState
	if err := decodeOne(f, &s); err != nil {
		return nil, err
	}
	if s.RunID == "" || s.Type == "" || s.Completed == nil {
		return nil, refusedFile(f, len(f.Data), "is no state of a run: it has no run_id, mission_key or completed_steps")
	}
	run := &Run{ID: s.RunID, Type: s.Type, Mission: deref(s.Mission), Issued: deref(s.Issued), Blocked: deref(s.Blocked),
		Inputs: map[string]string{}, Answers: map[string]RunAnswer{}}
	for _, id := range s.Completed {
		if !slices.Contains(run.Completed, id) {
			run.Completed = append(run.Completed, id)
		}
	}
	for key, raw := range s.Inputs {
		if text := valueText(raw); text != "" {
			run.Inputs[key] = text
		}
	}
	for id, raw := range s.Decisions {
		if err := run.answer(f, id, raw); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// answer keeps an answer to an input or an audit; what else is among the
// decisions is the Python program's own.
func (r *Run) answer(f File, id string, raw json.RawMessage) error {
	if !strings.HasPrefix(id, "input:") && !strings.HasPrefix(id, "audit:") {
		return nil
	}
	var a struct {
		Answer string `json:"answer"`
		By     struct {
			ID   string `json:"actor_id"`
			Type string `json:"actor_type"`
		} `json:"answered_by"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || a.Answer == "" {
		return refusedFile(f, max(0, bytes.Index(f.Data, raw)), "the decision "+id+" has no answer")
	}
	by := a.By.ID
	if a.By.Type == "human" && by != "" {
		by = "human:" + by
	}
	r.Answers[id] = RunAnswer{Value: a.Answer, By: by}
	return nil
}

// RunPlace is where the Python program's index says that a mission's run is.
type RunPlace struct {
	ID  string `json:"run_id"`
	Dir string `json:"run_dir"` // absolute as it was then, or relative to the project
}

// ReadRuns reads its index feature-runs.json: places by the mission's slug. The
// error is a *RefusedError.
func ReadRuns(f File) (map[string]RunPlace, error) {
	var places map[string]RunPlace
	if err := decodeOne(f, &places); err != nil {
		return nil, err
	}
	return places, nil
}

// decodeOne reads exactly one JSON value.
func decodeOne(f File, into any) error {
	if !utf8.Valid(f.Data) {
		return refusedFile(f, firstBad(f.Data), "is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(f.Data))
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return refusedFile(f, int(wrong.Offset)-1, fmt.Sprintf("%s is a %s, which was not expected", wrong.Field, wrong.Value))
	case errors.As(err, &syntax):
		return refusedFile(f, int(syntax.Offset)-1, "is no JSON: "+syntax.Error())
	case err != nil:
		return refusedFile(f, len(bytes.TrimSpace(f.Data)), "is no JSON: it ends too early")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refusedFile(f, int(d.InputOffset())-1, "something stands behind its end")
	}
	return nil
}

func refusedFile(f File, at int, message string) error {
	p := position(f.Name, f.Data, min(max(0, at), len(f.Data)))
	return &RefusedError{Problems: []Problem{{File: f.Name, Line: p.line, Column: p.column, Message: message}}}
}

// valueText is an input's value as text; "" for null and for nothing.
func valueText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text // of null too
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
