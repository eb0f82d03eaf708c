package cursor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spec-kitty/step-runner/host/mission"
)

// replay wants that every prefix of a history folds to the state that was there
// then, from nothing, and that no later commit changed an earlier state.
func (r *run) replay() {
	r.t.Helper()
	var s State
	for i, rec := range r.log {
		s = fold(s, rec.meta, rec.events)
		if diff := cmp.Diff(rec.after, s, cmpopts.EquateEmpty()); diff != "" {
			r.t.Fatalf("the first %d commits fold to another state:\n%s", i+1, diff)
		}
		if now := encoded(r.t, rec.after); now != rec.frozen {
			r.t.Fatalf("the state after commit %d was changed later:\n%s\n%s", i+1, rec.frozen, now)
		}
	}
}

func TestReplay_P6(t *testing.T) {
	r := atImplement(t, "WP01", "WP02", "WP03")
	r.ask("ann")
	r.must(r.own("ann", Blocked))
	r.must(Retry{Who: "ops", Tokens: r.tokens()})
	r.ask("bob")
	r.must(r.own("bob", Success))
	r.must(r.own("ann", Success))
	r.ask("bob")
	r.must(r.own("bob", Failed))
	r.must(Skip{Who: "ops", Step: r.s.Cursor.Step, Reason: "r", Tokens: r.tokens()})
	r.replay()
}

// Events that no Decide makes leave what they do not fit as it is: Evolve never
// fails, however large a position is.
func TestEvolveIsTotal(t *testing.T) {
	s := fold(State{}, Meta{Revision: 1}, []Event{Started{Run: "01R"}, Entered{Step: "a"}})
	for _, e := range []Event{
		Completed{Pos: -1}, Completed{Pos: 1 << 40}, Reopened{Positions: []int{-5, 1 << 40}},
		Released{Token: "x"}, Released{}, Reported{Token: "x"}, Reported{}, Answered{ID: "x"}, Retried{Package: "WP01"}, nil,
	} {
		after := Evolve(s, Meta{Revision: 2}, e)
		want(t, fmt.Sprintf("%T", e), after.Cursor.Done, mission.Bits{})
		want(t, fmt.Sprintf("%T", e), after.Cursor.Step, "a")
	}
}

// What is finished costs one bit: a run of 700 steps is as large at its end as
// after a hundred, apart from the set of completed steps.
func TestStateGrowsWithWhatIsOpen(t *testing.T) {
	var ids []string
	for i := range 700 {
		ids = append(ids, fmt.Sprintf("step-%04d", i))
	}
	r := begin(t, facts(chain(ids...)), nil)
	r.ask("ann")
	size := func() int { return len(encoded(t, r.s)) - len(encoded(t, r.s.Cursor.Done)) }
	var early int
	for i := range ids[:600] {
		r.must(r.own("ann", Success))
		if i == 200 {
			early = size()
		}
	}
	if late := size(); late > early+8 { // a digit more in a counter
		t.Fatalf("the state grew from %d to %d bytes", early, late)
	}
	if bits := len(encoded(t, r.s.Cursor.Done)); bits > 120 {
		t.Fatalf("the set of 600 completed steps takes %d bytes", bits)
	}
}

// Rounds of rework leave counters behind, not a history.
func TestReworkDoesNotGrow(t *testing.T) {
	r := atImplement(t, "WP01")
	round := func() {
		r.ask("ann")
		r.must(r.own("ann", Success))
		r.ask("bob")
		r.must(r.own("bob", Failed))
		r.must(Release{Who: "ops", Package: "WP01"})
	}
	for range 10 {
		round()
	}
	early := len(encoded(t, r.s))
	for range 80 {
		round()
	}
	if late := len(encoded(t, r.s)); late > early+16 {
		t.Fatalf("the state grew from %d to %d bytes", early, late)
	}
}

// The tokens of a transition follow its first one, over every byte's border.
func TestTokens(t *testing.T) {
	var first Tokens
	for i := range first.First {
		first.First[i] = 0xff
	}
	first.First[6] = 0 // the random bits do not run over into the time
	seen := map[string]bool{}
	for n := range 20000 {
		token := first.at(n)
		if seen[token] || !strings.HasPrefix(token, "7ZZZZZZZZZ") {
			t.Fatalf("token %d is %s", n, token)
		}
		seen[token] = true
	}
}
