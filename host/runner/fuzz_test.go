package runner

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// FuzzApply: whoever edits a saved plan can write anything into it. It is refused
// as no plan, or decided on without harm.
func FuzzApply(f *testing.F) {
	def, state := fuzzed(f)
	issue, _ := state.Issue(state.Issues()[0].Token)
	facts := cursor.Facts{Def: def, Source: cursor.Journal}
	base := cursor.BaseOf(state, facts, issue, true)
	for _, saved := range []savedPlan{
		{Format: planFormat, ID: "p", Mission: "m", Issue: issue, Report: &cursor.Report{By: issue.Holder, Result: cursor.Success, Base: base}},
		{Format: planFormat, ID: "p", Mission: "m", Issue: issue, Report: &cursor.Report{Result: "?", Base: cursor.Base{Issue: "x"}}},
		{Format: planFormat, ID: "p", Mission: "m", Ask: &cursor.Ask{By: issue.Holder, Base: &base}},
		{Format: 2, ID: "p"},
	} {
		raw, err := json.Marshal(saved)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"format":1,"id":"p","mission":"m","report":{},"ask":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		saved, err := readPlan(raw)
		if err != nil {
			return
		}
		_ = saved.Caller.check()
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		var events []cursor.Event
		if saved.Report != nil {
			events, err = saved.Report.Decide(state, facts, now)
		} else {
			events, err = saved.Ask.Decide(state, facts, now)
		}
		if err != nil && len(events) > 0 {
			t.Fatalf("refused, and %d events: %v", len(events), err)
		}
		after := state
		for _, e := range events {
			after = cursor.Evolve(after, cursor.Meta{Revision: state.Revision + 1, At: now}, e)
		}
	})
}

// fuzzed is a run of two steps whose first is handed out.
func fuzzed(f *testing.F) (*mission.Definition, cursor.State) {
	f.Helper()
	def := &mission.Definition{Key: "t", Name: "t", Version: "1", Steps: []mission.Step{{ID: "a", Title: "a", Action: "a"}, {ID: "b", Title: "b", Action: "b", DependsOn: []string{"a"}}}}
	start := cursor.Start{Run: "01J", Mission: "m", Def: def, By: cursor.Holder{Agent: "ann"}, Tokens: cursor.Tokens{First: ulid.Make()}}
	events, err := start.Decide(cursor.State{}, cursor.Facts{Def: def, Source: cursor.Journal}, time.Unix(0, 0))
	if err != nil {
		f.Fatal(err)
	}
	var s cursor.State
	for _, e := range events {
		s = cursor.Evolve(s, cursor.Meta{Revision: 1}, e)
	}
	if len(s.Issues()) != 1 {
		f.Fatalf("nothing is handed out: %+v", s)
	}
	return def, s
}
