package cursor

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/mission"
)

var update = flag.Bool("update", false, "write testdata/events.golden.json anew; only before a format is published")

// oneOfEach has every field of every kind of event set.
func oneOfEach() []Event {
	holder := Holder{Agent: "ann", Worker: "1"}
	return []Event{
		Started{Run: "01R", Mission: "034-pay", Type: "dev", Definition: "d", Index: "i", Plugins: map[string]string{"lint": "sha"}, Commands: "c", Seed: "s"},
		Entered{Pos: 1, Step: "a"},
		Asked{Asking{ID: "input:db", Token: "01T", Key: "db", Question: "Which?", Options: []string{"pg", "lite"}}},
		Answered{ID: "input:db", Token: "01T", Key: "db", Value: "pg", By: "human:kim"},
		Answered{ID: "input:db", Token: "01T", Key: "db", Value: "lite", By: "human:kim", Reason: "why", Replaces: "pg"},
		Postponed{ID: "input:db", Token: "01T", By: "human:kim", Reason: "why"},
		Withdrawn{ID: "plugin:db", Token: "01T", By: "human:kim", Reason: "why"},
		InputsSet{Inputs: map[string]string{"db": "pg"}},
		Issued{Token: "01T", Pos: 1, Step: "a", Package: "WP01", Attempt: 2, Holder: holder, Source: Journal},
		Reported{
			Token: "01T", Step: "a", Package: "WP01", Result: Success, Outcome: Failed, Reason: "why", By: holder, Plan: "p1",
			Prompt: "next", Notes: []string{"n"}, Guards: []GuardEvidence{{Guard: "artifact spec.md", Verdict: "allow", Examined: "1 file"}}, Rejection: true,
			Calls: []Call{
				{Kind: CallPlugin, Name: "lint", SHA256: "sha", Dir: "dir", Verb: "guard", Round: 1, Request: "r", Answer: "a", Files: "f"},
				{Kind: CallCommand, Name: "unit-tests", SHA256: "c", Round: 1, Command: &CommandRun{
					End: "signaled", Exit: -1, Signal: "killed", Millis: 12, Stdout: Output{Bytes: 3, SHA256: "o", Tail: "out"},
				}},
			},
			Artifacts: []Artifact{
				{Path: "docs/a.md", SHA256: "ab", Replaces: Absent, Content: "text"},
			},
		},
		Completed{Pos: 1, Step: "a", How: BySkip, Reason: "why"},
		Stopped{Step: "a", Package: "WP01", Stop: Block, Reason: "why"},
		Retried{Step: "a", Package: "WP01", Attempt: 3, Reason: "why"},
		Reopened{Positions: []int{1, 2}, Audits: []string{"audit:b"}, Reason: "why"},
		Moved{Package: "WP01", From: mission.Planned, To: mission.Claimed, Holder: holder, Author: holder, Reason: "why"},
		Moved{Package: "WP01", From: mission.Blocked, To: mission.ForReview, Reason: "why", Force: true},
		Released{Token: "01T", Reason: "why"},
		Rewound{
			To: 7, Step: "a", Cursor: Cursor{Pos: 1, Step: "a", Attempt: 1, Done: mission.Bits{}.With(0), Inputs: map[string]string{"db": "pg"},
				Answers: map[string]Answer{"input:db": {Value: "pg", By: "human:kim", Token: "01T", Reason: "why", Options: []string{"pg", "lite"}, Used: "a"}}},
			Packages: map[string]Package{"WP01": {Lane: mission.ForReview, From: mission.InProgress, Author: holder, Attempts: map[string]int{"a": 1}}}, Reason: "why",
		},
		Migrated{Definition: "d", Index: "i", Plugins: map[string]string{"lint": "sha"}, Grants: "g", Commands: "c", Done: mission.Bits{}.With(0),
			Steps: map[string]int{"a": 1}, Dropped: []string{"input:db"}, Reason: "why"},
		Finished{Canceled: true},
		RunAborted{Reason: "why"},
		Started{Run: "01R", Mission: "034-pay", Type: "dev", Definition: "d", Index: "i", Seed: "s", Adopted: &AdoptedFrom{Run: "0af3", SHA256: "sha"}},
		Published{Revision: 7, Paths: []string{"docs/a.md"}},
		Discarded{Revision: 7, Paths: []string{"docs/a.md"}, Reason: "why"},
	}
}

// The published format: one line for each kind. A change of this file is a
// change of the journal's format.
func TestEventsGolden(t *testing.T) {
	var lines []string
	for _, e := range oneOfEach() {
		raw, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(raw))
	}
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", "events.golden.json")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(golden), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Fatalf("the journal's format changed:\n%s", diff)
	}
	for i, line := range lines {
		e, err := DecodeEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(oneOfEach()[i], e); diff != "" {
			t.Fatalf("%s:\n%s", line, diff)
		}
	}
}

// Every field that an event may leave out is known too, and no kind is missing
// above: the decoder's own list has as many.
func TestEmptyEvents(t *testing.T) {
	for _, e := range oneOfEach() {
		raw := json.RawMessage(`{"` + e.kind() + `":{}}`)
		back, err := DecodeEvent(raw)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "kind", back.kind(), e.kind())
		Evolve(State{}, Meta{}, back) // is total
	}
}

func TestUnknownEvents(t *testing.T) {
	for _, raw := range []string{
		`{"teleported":{}}`,
		`{"entered":{"pos":1,"step":"a","mood":"good"}}`,
		`{"issued":{"holder":{"agent":"ann","shoe":43}}}`,
		`{"asked":{"id":"input:x","colour":"red"}}`,
		`{"entered":{"pos":"one"}}`,
		`{"entered":{"pos":1.5}}`,
		`{"entered":null}`,
		`{"entered":[]}`,
	} {
		_, err := DecodeEvent([]byte(raw))
		var unknown *UnknownEventError
		if !errors.As(err, &unknown) || unknown.Kind == "" || unknown.Error() == "" {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, raw := range []string{``, `null`, `[]`, `{}`, `"entered"`, `{"entered":{},"finished":{}}`, `{"entered":{}} {}`, `{"entered":`} {
		if e, err := DecodeEvent([]byte(raw)); err == nil {
			t.Errorf("%s was read as %#v", raw, e)
		}
	}
}

func TestRefusalText(t *testing.T) {
	err := error(refuse(StaleToken, "token %s", "x"))
	want(t, "text", err.Error(), "stale_token: token x")
	want(t, "nobody", Holder{}.String(), "nobody")
	want(t, "worker", who("ann/1").String(), "ann (worker 1)")
}
