package importer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/importer"
)

// A run's state is read as the Python program writes it; values that are no text
// become text, and what is its own business is not looked at.
func TestReadRun(t *testing.T) {
	got, err := importer.ReadRun(importer.File{Name: "state.json", Data: []byte(`{
  "run_id": "0af3", "mission_key": "software-dev", "mission_slug": null, "template_path": "/x", "template_hash": "h",
  "policy_snapshot": {"strictness": "medium", "extras": {}},
  "completed_steps": ["a", "b", "a"], "issued_step_id": "c", "blocked_reason": "stuck",
  "inputs": {"text": "v", "n": 3, "flag": true, "list": [1, "x"], "none": null, "empty": ""},
  "decisions": {"input:text": {"answer": "v", "answered_by": {"actor_id": "kim", "actor_type": "human"}, "answered_at": "x"},
    "audit:q": {"answer": "approve", "answered_by": {"actor_id": "bot", "actor_type": "llm"}}, "raci:a": {"source": "inferred"}},
  "pending_decisions": {"input:more": {"question": "?"}}
}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := &importer.Run{ID: "0af3", Type: "software-dev", Completed: []string{"a", "b"}, Issued: "c", Blocked: "stuck",
		Inputs:  map[string]string{"text": "v", "n": "3", "flag": "true", "list": `[1,"x"]`},
		Answers: map[string]importer.RunAnswer{"input:text": {Value: "v", By: "human:kim"}, "audit:q": {Value: "approve", By: "bot"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is damaged is refused where it is, never read as an empty run.
func TestDamagedRun(t *testing.T) {
	for data, want := range map[string]string{
		"":                                 "state.json:1:1: is no JSON: it ends too early",
		"{\n \"run_id\": 3}":               "state.json:2:12: run_id is a number",
		"{\"run_id\": \"x\",\n}":           "state.json:2:1: is no JSON",
		"{}":                               "state.json:1:3: is no state of a run",
		"null":                             "state.json:1:5: is no state of a run",
		"[]":                               "state.json:1:1: ",
		`{"run_id":"x","mission_key":"m"}`: "state.json:1:33: is no state of a run",
		`{"run_id":"x","mission_key":"m","completed_steps":"a"}`:                          "state.json:1:53: completed_steps is a string",
		`{"run_id":"x","mission_key":"m","completed_steps":[],"decisions":{"audit:a":3}}`: "state.json:1:77: the decision audit:a has no answer",
		`{"run_id":"x","mission_key":"m","completed_steps":[]} x`:                         "state.json:1:54: something stands behind its end",
		"{\"run_id\":\"\xff\"}": "state.json:1:12: is not UTF-8",
	} {
		_, err := importer.ReadRun(importer.File{Name: "state.json", Data: []byte(data)})
		var refused *importer.RefusedError
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, wanted %s", data, err, want)
		}
	}
}

// FuzzReadRun: no bytes make it panic; what it accepts has a name and a type.
func FuzzReadRun(f *testing.F) {
	f.Add([]byte(`{"run_id":"x","mission_key":"m","completed_steps":["a"],"inputs":{"a":1},"decisions":{"audit:a":{"answer":"approve"}}}`))
	f.Add([]byte(`{"run_id":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := importer.ReadRun(importer.File{Name: "s", Data: data})
		var refused *importer.RefusedError
		switch {
		case err == nil && (run.ID == "" || run.Type == ""):
			t.Errorf("%+v", run)
		case err != nil && (!errors.As(err, &refused) || refused.Problems[0].Line < 1 || refused.Problems[0].Column < 1):
			t.Error(err)
		}
	})
}
