package loop

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/schedule"
)

type transition interface {
	Kind() string
	Actor() string
	Decide(State, Facts, time.Time) ([]Event, error)
}

// tester is what both *testing.T and *rapid.T are.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a loop with what lies around it.
type world struct {
	t   tester
	s   State
	f   Facts
	now time.Time
	def *Definition
	ids int
	log []committed
}

// committed is one commit, with the state that it made, word for word.
type committed struct {
	meta   Meta
	events []Event
	after  string
}

var epoch = time.Date(2026, 3, 2, 10, 0, 30, 0, time.UTC) // a Monday

const digest = "definition-1"

func fresh(t tester) *world {
	w := &world{t: t, now: epoch, def: definition()}
	w.f = Facts{Here: Place{Host: "h", Boot: "b", Up: Span(time.Hour)}, Definition: digest, Runner: Alive, Orphans: map[uint64]Liveness{}}
	w.do(Create{By: By{Who: "ann"}, UID: "u1", Name: "deps", Definition: digest})
	return w
}

// definition has no limit that a short story meets by accident.
func definition() *Definition {
	return &Definition{
		Name: "deps", Lease: DefaultLease,
		Limits:   Limits{MaxRuns: 50, MaxFailures: 3, MaxNoProgress: 3},
		Approval: ApprovalRule{Expires: DefaultExpires},
		Schedule: Schedule{CatchUp: true, Window: DefaultWindow},
		Verify:   &Verifier{},
	}
}

// try decides and evolves.
func (w *world) try(x transition) ([]Event, error) {
	w.t.Helper()
	before := encode(w.t, w.s)
	events, err := x.Decide(w.s, w.f, w.now)
	if after := encode(w.t, w.s); after != before {
		w.t.Fatalf("%s changed the state that it was given:\n%s\n%s", x.Kind(), before, after)
	}
	if err != nil && len(events) > 0 {
		w.t.Fatalf("%s refused and made events: %v", x.Kind(), err)
	}
	meta := Meta{Revision: w.s.Revision + 1, At: w.now, Actor: x.Actor(), Kind: x.Kind()}
	for _, e := range events {
		w.s = Evolve(w.s, meta, e)
	}
	if len(events) > 0 {
		w.log = append(w.log, committed{meta, events, encode(w.t, w.s)})
	}
	return events, err
}

// replay folds the log again, as it was written: after each commit, the first too,
// the fold is the state that there was.
func (w *world) replay() {
	w.t.Helper()
	var again State
	for i, c := range w.log {
		for _, e := range c.events {
			raw, err := EncodeEvent(e)
			if err != nil {
				w.t.Fatalf("commit %d: %v", i+1, err)
			}
			back, err := DecodeEvent(raw)
			if err != nil {
				w.t.Fatalf("commit %d: %s is not read: %v", i+1, raw, err)
			}
			again = Evolve(again, c.meta, back)
		}
		if now := encode(w.t, again); now != c.after {
			w.t.Fatalf("the first %d commits fold to another state:\n%s\nwas\n%s", i+1, now, c.after)
		}
	}
}

func (w *world) do(x transition) []Event {
	w.t.Helper()
	events, err := w.try(x)
	if err != nil {
		w.t.Fatalf("%s: %v", x.Kind(), err)
	}
	return events
}

// refused wants a refusal with a code, and nothing written.
func (w *world) refused(x transition, code Code) *Refusal {
	w.t.Helper()
	_, err := w.try(x)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Message == "" {
		w.t.Fatalf("%s: %v, want %s", x.Kind(), err, code)
	}
	return refusal
}

// sleep lets time go by for all clocks.
func (w *world) sleep(d time.Duration) {
	w.now = w.now.Add(d)
	w.f.Here.Up += Span(d)
}

func (w *world) runner() Runner {
	return Runner{Host: w.f.Here.Host, Boot: w.f.Here.Boot, PID: 100, Start: "1", Up: w.f.Here.Up, At: w.now}
}

func (w *world) firing() ClaimLoop {
	return ClaimLoop{By: By{Who: "tick"}, Runner: w.runner(), Definition: w.def, Digest: digest, Zone: time.UTC}
}

// claim claims and gives the tick; it must get the loop.
func (w *world) claim() Tick {
	w.t.Helper()
	events := w.do(w.firing())
	if w.s.Claim == nil {
		w.t.Fatalf("not claimed: %#v", events)
	}
	return Tick{By: By{Who: "tick"}, UID: "u1", Token: w.s.Claim.Token}
}

// skips wants a firing that does nothing, for a reason.
func (w *world) skips(reason Code) Skipped {
	w.t.Helper()
	return w.skipped(w.firing(), reason)
}

func (w *world) skipped(x transition, reason Code) Skipped {
	w.t.Helper()
	claim := w.s.Claim
	for _, e := range w.do(x) {
		if skip, ok := e.(Skipped); ok && skip.Reason == reason && w.s.Claim == claim {
			return skip
		}
	}
	w.t.Fatalf("not skipped as %s; the state is %s", reason, encode(w.t, w.s))
	return Skipped{}
}

var group = ProcessGroup{ID: 200, Start: "2"}

func (w *world) work(t Tick) { w.t.Helper(); w.do(w.beginWork(t)) }

func (w *world) beginWork(t Tick) BeginWork {
	return BeginWork{Tick: t, Group: group, Base: "base", BaseTree: "tree0"}
}

// verify ends the work with a result that no other run has.
func (w *world) verify(t Tick) { w.t.Helper(); w.do(w.beginVerify(t)) }

func (w *world) beginVerify(t Tick) BeginVerify {
	n := strconv.FormatUint(t.Token, 10)
	return BeginVerify{Tick: t, Result: "commit" + n, Tree: "tree" + n, Usage: Usage{Time: Span(time.Minute)}}
}

func (w *world) beginLanding(t Tick) BeginLanding {
	return BeginLanding{Tick: t, Old: "base", New: w.s.Claim.Result, Tree: w.s.Claim.Tree}
}

// verified is a run up to its verification.
func (w *world) verified() Tick {
	w.t.Helper()
	t := w.claim()
	w.work(t)
	w.verify(t)
	return t
}

// landing is a run up to its intent to land.
func (w *world) landing() Tick {
	w.t.Helper()
	t := w.verified()
	w.do(w.beginLanding(t))
	return t
}

// succeed is a whole good run.
func (w *world) succeed() {
	w.t.Helper()
	t := w.landing()
	w.do(FinishRun{Tick: t, Head: w.s.Claim.Result})
}

// asking is a run up to its request, which is then as it is now.
func (w *world) asking(stage Stage) string {
	w.t.Helper()
	w.ids++
	subject := Subject{Stage: stage, Definition: digest, Base: "base"}
	t := w.claim()
	if stage == ToLand {
		w.work(t)
		w.verify(t)
		subject.Result, subject.Tree, subject.Verify = w.s.Claim.Result, w.s.Claim.Tree, "verdict"
	}
	id := "q" + strconv.Itoa(w.ids)
	w.do(Ask{Tick: t, ID: id, Subject: subject})
	w.f.Subject = &subject
	return id
}

func (w *world) halted(code Halting) {
	w.t.Helper()
	if w.s.Halt == nil || w.s.Halt.Code != code || w.s.Claim != nil {
		w.t.Fatalf("halted as %+v with claim %+v, want %s", w.s.Halt, w.s.Claim, code)
	}
	w.shown(StatusHalted)
	if !w.told(OnHalted) {
		w.t.Fatalf("nobody is told of %s: %+v", code, w.s.Due)
	}
}

func (w *world) told(on Occasion) bool {
	for _, n := range w.s.Due {
		if n.On == on {
			return true
		}
	}
	return false
}

func (w *world) shown(status Status) Shown {
	w.t.Helper()
	shown := w.s.Shown(w.f, w.now)
	if shown.Status != status || shown.Why == "" || shown.Next == "" {
		w.t.Fatalf("shown as %+v, want %s", shown, status)
	}
	return shown
}

func want[V any](t *testing.T, what string, got, wanted V) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func every(d time.Duration) Schedule {
	return Schedule{Rule: schedule.Rule{Every: d}, CatchUp: true, Window: DefaultWindow}
}
