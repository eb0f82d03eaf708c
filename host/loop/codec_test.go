package loop

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/events.golden.json anew; only before a format is published")

func encode(t tester, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(raw)
}

// oneOfEach has every field of every kind of event set.
func oneOfEach() []Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cost, tokens, left := Money(1_250_000), int64(9), 40
	usage := Usage{Cost: &cost, Tokens: &tokens, Context: &left, Time: Span(time.Minute)}
	runner := Runner{Host: "h", Boot: "b", PID: 1, Start: "2", Up: Span(time.Hour), At: at}
	subject := Subject{Stage: ToLand, Definition: "d", Base: "b", Result: "r", Tree: "t", Verify: "v", Protected: []string{"x_test.go"}, Goal: true}
	rules := Rules{
		Lease: Span(time.Minute), MaxRuns: 1, MaxFailures: 2, MaxNoProgress: 3, MaxCostPerRun: 4, MaxCostPerDay: 5_000_000, MaxTokensPerRun: 6,
		MaxTokensPerDay: 7, MaxTimePerDay: Span(time.Hour), ContextFloor: 15, Retry: true, Expires: Span(72 * time.Hour), Before: []Stage{ToStart, ToLand},
	}
	return []Event{
		Created{UID: "u", Name: "deps", Schema: 1, Definition: "d"},
		Claimed{Token: 1, Runner: runner, Definition: "d", Rules: rules, Slot: at, Missed: 2, Grant: &Grant{ID: "q", Token: 1, Subject: subject, By: "ann"}},
		Skipped{Reason: SkipBusy, Detail: "why", Slot: at, Missed: 2},
		Working{Token: 1, Group: group, Base: "b", BaseTree: "t"},
		Regrouped{Token: 1, Group: group},
		Verifying{Token: 1, Group: &group, Result: "r", Tree: "t", Usage: usage},
		Landing{Token: 1, Old: "b", New: "r", Tree: "t", Goal: true},
		Asked{Approval{ID: "q", Token: 1, Subject: subject, Asked: at, Expires: at}},
		Decided{ID: "q", Decision: Approved, By: "ann", Note: "n"},
		Voided{ID: "q", Why: "why"},
		Ended{
			Token: 1, Result: EndCrashed, Why: "timeout", Detail: "why", Failure: true, Progress: Stuck, Verdict: "v", Usage: &usage, NotBefore: at,
			Recovered: true, Orphan: &Orphan{Token: 1, Runner: runner, Group: group},
		},
		HaltSet{Code: HaltCrashed, Detail: "why", Token: 1},
		GoalMet{Token: 1},
		Buried{Token: 1, Assumed: true, Reason: "why"},
		PauseSet{Reason: "why", Until: at, Cancel: 1},
		Resumed{Reason: "why"},
		Cleared{Code: HaltCrashed, Reset: true, Reason: "why"},
		RetireSet{Reason: "why", Cancel: 1},
		Removed{Forced: true},
		Noticed{Key: "1/lost", On: OnLost, Detail: "why"},
		Sent{Keys: []string{"1/lost"}},
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
		want(t, line, e, oneOfEach()[i])
	}
}

// Every kind may leave out its fields, Evolve is total, and what is not known
// is never dropped.
func TestEventsEmptyAndUnknown(t *testing.T) {
	for _, e := range oneOfEach() {
		back, err := DecodeEvent(json.RawMessage(`{"` + e.kind() + `":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		want(t, "kind", back.kind(), e.kind())
		Evolve(State{}, Meta{}, back)
		Evolve(State{Claim: &Claim{}}, Meta{}, e)
		_, err = DecodeEvent(json.RawMessage(`{"` + e.kind() + `":{"mood":1}}`))
		if unknown := (*UnknownEventError)(nil); !errors.As(err, &unknown) || unknown.Kind != e.kind() || unknown.Error() == "" {
			t.Errorf("%s with an unknown field: %v", e.kind(), err)
		}
	}
	for _, raw := range []string{`{"teleported":{}}`, `{"sent":null}`, `{"sent":[]}`, `{"claimed":{"token":-1}}`, `{"claimed":{"runner":{"up":"long"}}}`} {
		if _, err := DecodeEvent([]byte(raw)); err == nil {
			t.Errorf("%s was read", raw)
		}
	}
}

// A state comes back from its JSON as it was: the view is the journal, folded.
func TestStateThroughJSON(t *testing.T) {
	s := State{Claim: &Claim{}, Approval: &Approval{}}
	for i, e := range oneOfEach() {
		s = Evolve(s, Meta{Revision: uint64(i), At: epoch, Actor: "ann"}, e)
		var back State
		if err := json.Unmarshal([]byte(encode(t, s)), &back); err != nil {
			t.Fatal(err)
		}
		want(t, e.kind(), encode(t, back), encode(t, s))
	}
}

// Amounts are exact, and never rounded down.
func TestMoney(t *testing.T) {
	for units, text := range map[float64]string{0: "0.00", 5: "5.00", 0.1: "0.10", 2.675: "2.675", 0.0000001: "0.000001", 19.999999: "19.999999"} {
		m, ok := MoneyOf(units)
		if !ok || m.String() != text {
			t.Errorf("%v is %v, want %s", units, m, text)
		}
		var back Money
		if err := back.UnmarshalText([]byte(text)); err != nil || back != m {
			t.Errorf("%s was read as %v: %v", text, back, err)
		}
	}
	for _, units := range []float64{-1, -0.01, 1e10, nan()} {
		if m, ok := MoneyOf(units); ok {
			t.Errorf("%v is %v", units, m)
		}
	}
	for _, text := range []string{"", "x", "1.-5", "1.0000001", "1.2.3"} {
		var m Money
		if err := m.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, m)
		}
	}
	want(t, "negative", Money(-1_500_000).String(), "-1.50")
}

func nan() float64 { zero := 0.0; return zero / zero }
