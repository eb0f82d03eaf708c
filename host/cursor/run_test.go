package cursor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/spec-kitty/step-runner/host/mission"
)

// transition is what the commit core commits.
type transition interface {
	Kind() string
	Actor() string
	Decide(State, Facts, time.Time) ([]Event, error)
}

// fataler is a test, or a draw of rapid.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// record is one commit of a history.
type record struct {
	meta   Meta
	events []Event
	after  State
	def    mission.View
	frozen string // JSON of after, made at once
}

// run is a run in memory: it decides, folds, and checks what must hold after
// every commit.
type run struct {
	t     fataler
	f     Facts
	s     State
	log   []record
	made  int             // transitions that took tokens
	known map[string]bool // tokens of issues and askings
}

// clock is when the n-th commit is made.
func clock(n int) time.Time {
	return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func facts(def *mission.Definition, packages ...PackageFact) Facts {
	return Facts{Def: def, Source: Journal, Packages: packages}
}

func begin(t fataler, f Facts, inputs map[string]string) *run {
	t.Helper()
	r := &run{t: t, f: f, known: map[string]bool{}}
	r.must(r.opening(inputs))
	return r
}

func (r *run) opening(inputs map[string]string) Start {
	return Start{
		Who: "ci", Run: "01RUN", Mission: "034-pay", Type: "software-dev",
		Definition: "d1", Index: "i1", Seed: "s1", Inputs: inputs, Tokens: r.tokens(),
	}
}

// tokens are new at each call.
func (r *run) tokens() Tokens {
	r.made++
	var u ulid.ULID
	binary.BigEndian.PutUint32(u[2:], uint32(r.made))
	return Tokens{First: u}
}

// who reads "agent" or "agent/worker".
func who(name string) Holder {
	agent, worker, _ := strings.Cut(name, "/")
	return Holder{Agent: agent, Worker: worker}
}

// try decides, and folds what was decided.
func (r *run) try(x transition) ([]Event, error) {
	r.t.Helper()
	before, now := encoded(r.t, r.s), clock(len(r.log))
	events, err := x.Decide(r.s, r.f, now)
	if after := encoded(r.t, r.s); after != before {
		r.t.Fatalf("%s changed the state that it was given:\n%s\n%s", x.Kind(), before, after)
	}
	if err != nil {
		if len(events) > 0 {
			r.t.Fatalf("%s was refused and left events: %v, %v", x.Kind(), err, kinds(events))
		}
		return nil, err
	}
	if len(events) == 0 {
		return nil, nil
	}
	if m, ok := x.(Migrate); ok {
		r.f.Def = m.Def // as the facts of a migrated run are read
	}
	meta := Meta{Revision: r.s.Revision + 1, At: now, Actor: x.Actor(), Kind: x.Kind()}
	next := fold(r.s, meta, events)
	r.check(x, meta, events, next)
	r.s = next
	for _, e := range events {
		if m, ok := e.(Moved); ok {
			r.f = r.f.After(m, Meta{Revision: r.s.Revision, At: now}) // as the lane log is appended to
		}
	}
	r.log = append(r.log, record{meta: meta, events: events, after: next, def: r.f.Def, frozen: encoded(r.t, next)})
	return events, nil
}

func (r *run) must(x transition) []Event {
	r.t.Helper()
	events, err := r.try(x)
	if err != nil {
		r.t.Fatalf("%s: %v", x.Kind(), err)
	}
	return events
}

// refused wants a refusal of one code.
func (r *run) refused(x transition, code Code) *Refusal {
	r.t.Helper()
	events, err := r.try(x)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		r.t.Fatalf("%s: got %v and events %v, want the refusal %s", x.Kind(), err, kinds(events), code)
	}
	return refusal
}

// nothing wants that there is nothing to do.
func (r *run) nothing(x transition) {
	r.t.Helper()
	if events := r.must(x); len(events) != 0 {
		r.t.Fatalf("%s made events %v, want none", x.Kind(), kinds(events))
	}
}

// made wants events of these kinds, in this order.
func (r *run) makes(x transition, want ...string) []Event {
	r.t.Helper()
	events := r.must(x)
	if got := kinds(events); strings.Join(got, " ") != strings.Join(want, " ") {
		r.t.Fatalf("%s made %v, want %v", x.Kind(), got, want)
	}
	return events
}

func kinds(events []Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.kind())
	}
	return all
}

func fold(s State, m Meta, events []Event) State {
	for _, e := range events {
		s = Evolve(s, m, e)
	}
	return s
}

func encoded(t fataler, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(raw)
}

func (r *run) asking(name string) Ask { return Ask{Who: name, By: who(name), Tokens: r.tokens()} }

// ask asks for work and gives the issue that the asker then holds.
func (r *run) ask(name string) Issue {
	r.t.Helper()
	r.must(r.asking(name))
	return r.held(name)
}

// held is the one issue of a holder.
func (r *run) held(name string) Issue {
	r.t.Helper()
	held := r.s.Held(who(name))
	if len(held) != 1 {
		r.t.Fatalf("%s holds %d issues, want one: %+v", name, len(held), held)
	}
	return held[0]
}

// on is a report with a token, planned on the state as it is now.
func (r *run) on(name, token string, result Result) Report {
	issue, open := r.s.Issue(token)
	if !open {
		issue = Issue{Token: token}
	}
	return Report{
		Who: name, By: who(name), Token: token, Base: BaseOf(r.s, r.f, issue, open),
		Result: result, Reason: reasonOf(name, result), Tokens: r.tokens(),
	}
}

func reasonOf(name string, result Result) string {
	if result == Success {
		return ""
	}
	return fmt.Sprintf("%s saw it %s", name, result)
}

// own is a holder's report on its one issue without a token.
func (r *run) own(name string, result Result) Report {
	r.t.Helper()
	report := r.on(name, r.held(name).Token, result)
	report.Token = ""
	return report
}

// closing is a package step's own report.
func (r *run) closing(name string) Report {
	return Report{
		Who: name, By: who(name), Base: BaseOf(r.s, r.f, Issue{}, true),
		Result: Success, Tokens: r.tokens(),
	}
}

// human is an answer that a person gives to the present asking of a question.
func (r *run) human(decision, value string) Give {
	q, _ := r.s.Asking(decision)
	return Give{Who: "human:ann", Human: "ann", Decision: decision, Token: q.Token, Value: value, Tokens: r.tokens()}
}

func (r *run) lanes() string {
	var all []string
	for _, p := range r.f.Packages {
		all = append(all, p.ID+"="+string(r.s.lane(r.f, p.ID)))
	}
	return strings.Join(all, " ")
}

// at is a holder's situation in short: standing, step, package, and why.
func (r *run) at(name string) string {
	r.t.Helper()
	here, err := At(r.s, r.f, who(name))
	if err != nil {
		r.t.Fatalf("At: %v", err)
	}
	text := string(here.Standing) + " " + here.Step
	if here.Package != "" {
		text += " " + here.Package
	}
	if here.Why != nil {
		text += " " + string(here.Why.Code)
	}
	return text
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
