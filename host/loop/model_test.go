package loop

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model drives a loop with whatever ticks, people and crashes may do, and keeps
// its own account of what must hold (RandomOps).
type model struct {
	*world
	ticks   []Tick // all that were ever given the loop
	live    uint64 // the token that owns the loop by the model's account; 0: none
	begun   map[uint64]bool
	desired Desired
	decided map[string]Decision
	used    map[string]bool // requests whose grant was used
}

// TestRandomOps: one live token, tokens strictly rising, decisions never lost,
// each run counted once, each grant used once, a way out of every state, and the
// state is the journal's fold after every step.
func TestRandomOps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{world: fresh(t), desired: Active, begun: map[uint64]bool{}, decided: map[string]Decision{}, used: map[string]bool{}}
		m.draw(t)
		t.Repeat(map[string]func(*rapid.T){
			"tick": m.tick, "go on": m.goOn, "go on more": m.goOn, "end": m.end, "old tick": m.zombie, "time": m.time, "kill": m.kill,
			"pause": m.pause, "resume": m.resume, "decide": m.decide, "clear": m.clear, "retire": m.retire, "edit": m.edit, "": m.sound,
		})
		m.replay()
	})
}

func (m *model) draw(t *rapid.T) {
	m.def.Limits = Limits{MaxRuns: rapid.IntRange(0, 8).Draw(t, "runs"), MaxFailures: rapid.IntRange(1, 4).Draw(t, "failures"), MaxNoProgress: rapid.IntRange(1, 3).Draw(t, "no progress")}
	m.def.Verify.Retry = rapid.Bool().Draw(t, "retry")
	m.def.Approval.Before = rapid.SliceOfDistinct(rapid.SampledFrom([]Stage{ToStart, ToLand}), rapid.ID[Stage]).Draw(t, "before")
	if rapid.Bool().Draw(t, "scheduled") {
		m.def.Schedule = every(30 * time.Minute)
	}
}

// do commits and keeps account.
func (m *model) commit(x transition) error {
	before := m.s
	events, err := m.try(x)
	if refusal := (*Refusal)(nil); err != nil && !errors.As(err, &refusal) {
		m.t.Fatalf("%s: %v", x.Kind(), err)
	}
	for _, e := range events {
		m.account(before, e)
	}
	return err
}

func (m *model) account(before State, e Event) {
	switch e := e.(type) {
	case Claimed:
		if m.live != 0 || e.Token <= before.Token || m.desired != Active && before.Control.Until.IsZero() {
			m.t.Fatalf("token %d was given while %d was live, after %d, desired %s", e.Token, m.live, before.Token, m.desired)
		}
		m.live = e.Token
		m.ticks = append(m.ticks, Tick{UID: "u1", Token: e.Token})
		if e.Grant != nil {
			if m.decided[e.Grant.ID] != Approved || m.used[e.Grant.ID] {
				m.t.Fatalf("grant %s: decided %q, used %t", e.Grant.ID, m.decided[e.Grant.ID], m.used[e.Grant.ID])
			}
			m.used[e.Grant.ID] = true
		}
	case Working:
		if m.begun[e.Token] || e.Token != m.live {
			m.t.Fatalf("run %d was begun twice, or while %d was live", e.Token, m.live)
		}
		m.begun[e.Token] = true
	case Landing:
		if slices.Contains(m.def.Approval.Before, ToLand) && before.Claim.Grant == nil {
			m.t.Fatalf("run %d lands unapproved", e.Token)
		}
	case Ended:
		if e.Token != m.live {
			m.t.Fatalf("run %d ended while %d was live", e.Token, m.live)
		}
		m.live = 0
	case Decided:
		if m.decided[e.ID] != "" {
			m.t.Fatalf("request %s was decided twice", e.ID)
		}
		m.decided[e.ID] = e.Decision
	case PauseSet:
		m.desired = Paused
	case Resumed:
		m.desired = Active
	case RetireSet:
		m.desired = Stopped
	}
}

func (m *model) tick(*rapid.T) {
	firing := m.firing()
	firing.Digest = m.f.Definition
	m.commit(firing)
}

// current is the tick that has the loop.
func (m *model) current(t *rapid.T) Tick {
	if m.s.Claim == nil {
		t.Skip("nobody has the loop")
	}
	return Tick{UID: "u1", Token: m.s.Claim.Token}
}

func (m *model) goOn(t *rapid.T) {
	tick, c := m.current(t), *m.s.Claim
	switch {
	case c.Phase == InGate && c.Grant != nil && c.Grant.Subject.Stage == ToLand:
		m.commit(BeginLanding{Tick: tick, Old: "base", New: c.Grant.Subject.Result, Tree: c.Grant.Subject.Tree})
	case c.Phase == InGate && slices.Contains(c.Rules.Before, ToStart) && c.Grant == nil:
		m.request(tick, Subject{Stage: ToStart, Definition: c.Definition, Base: "base"})
	case c.Phase == InGate:
		m.commit(m.beginWork(tick))
	case c.Phase == InWork:
		verify := m.beginVerify(tick)
		if rapid.IntRange(0, 3).Draw(t, "idle") == 0 {
			verify.Tree = "tree0"
		}
		m.commit(verify)
	case c.Phase == InVerify && c.Tree == c.BaseTree:
		m.commit(FinishRun{Tick: tick, Goal: rapid.IntRange(0, 5).Draw(t, "goal") == 0})
	case c.Phase == InVerify && slices.Contains(c.Rules.Before, ToLand):
		m.request(tick, Subject{Stage: ToLand, Definition: c.Definition, Base: c.Base, Result: c.Result, Tree: c.Tree, Verify: "v"})
	case c.Phase == InVerify:
		landing := m.beginLanding(tick)
		landing.Goal = rapid.IntRange(0, 5).Draw(t, "goal") == 0
		m.commit(landing)
	default:
		m.commit(FinishRun{Tick: tick, Head: rapid.SampledFrom([]string{c.Result, c.Result, c.Result, c.Base, "x"}).Draw(t, "head")})
	}
}

func (m *model) request(tick Tick, subject Subject) {
	m.ids++
	if m.commit(Ask{Tick: tick, ID: "q" + strconv.Itoa(m.ids), Subject: subject}) == nil {
		m.f.Subject = &subject
	}
}

// outcomes are all ways to end a tick, fitting or not.
func (m *model) outcomes(tick Tick) []transition {
	return []transition{
		CloseGate{Tick: tick}, FailRun{Tick: tick, Why: WhyGate}, FailRun{Tick: tick, Why: "timeout"}, FailVerify{Tick: tick, Verdict: "v"}, FailRun{Tick: tick, Why: string(HaltBranchMoved)},
		HitLimit{Tick: tick, Crossing: Crossing{Code: HaltContext}}, CancelRun{Tick: tick}, CancelRun{Tick: tick, Signal: "INT"},
		m.beginWork(tick), m.beginVerify(tick), BeginLanding{Tick: tick, Old: "base", New: "commit"}, FinishRun{Tick: tick, Head: "x"},
		Reap{Tick: tick}, FinishLanding{Tick: tick, Head: "base"},
	}
}

func (m *model) end(t *rapid.T) {
	m.commit(rapid.SampledFrom(m.outcomes(m.current(t))).Draw(t, "outcome"))
}

// zombie is a tick of an old token, which may do nothing.
func (m *model) zombie(t *rapid.T) {
	if len(m.ticks) == 0 {
		t.Skip("no tick yet")
	}
	tick := rapid.SampledFrom(m.ticks).Draw(t, "tick")
	if tick.Token == m.live {
		t.Skip("it is no old one")
	}
	before := m.s.Revision
	if err := m.commit(rapid.SampledFrom(m.outcomes(tick)).Draw(t, "outcome")); err == nil || m.s.Revision != before {
		t.Fatalf("an old tick was heard: %v", err)
	}
}

func (m *model) time(t *rapid.T) {
	m.sleep(time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute)
	if rapid.Bool().Draw(t, "beat") {
		m.beat()
	}
}

// kill is the end of the claim's runner, or of a process group; or a restart.
func (m *model) kill(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "what") {
	case 0:
		m.f.Here = Place{Host: "h", Boot: m.f.Here.Boot + "+", Up: 1}
	case 1:
		for _, o := range m.s.Orphans {
			m.f.Orphans[o.Token] = Gone
		}
	default:
		m.f.Runner = Gone
	}
	if m.s.Claim != nil {
		m.commit(Reap{Tick: Tick{UID: "u1", Token: m.s.Claim.Token}})
	}
	if m.s.Claim != nil {
		c := m.s.Claim
		m.commit(FinishLanding{Tick: Tick{UID: "u1", Token: c.Token}, Head: rapid.SampledFrom([]string{c.Base, c.Result, c.Result}).Draw(t, "head")})
	}
	m.f.Runner = Alive
}

func (m *model) pause(t *rapid.T) {
	x := Pause{By: By{Who: "kim"}, Now: rapid.Bool().Draw(t, "now")}
	if rapid.Bool().Draw(t, "until") {
		x.Until = m.now.Add(time.Hour)
	}
	m.commit(x)
}

func (m *model) resume(*rapid.T) { m.commit(Resume{By: By{Who: "kim"}}) }

func (m *model) decide(t *rapid.T) {
	id := "q" + strconv.Itoa(rapid.IntRange(max(1, m.ids-1), max(1, m.ids)).Draw(t, "request"))
	if rapid.IntRange(0, 3).Draw(t, "deny") == 0 {
		m.commit(Deny{By: By{Who: "kim"}, ID: id})
		return
	}
	m.commit(Approve{By: By{Who: "kim"}, ID: id})
}

func (m *model) clear(t *rapid.T) {
	m.commit(Clear{By: By{Who: "kim"}, Code: m.s.HaltCode(), Reset: rapid.Bool().Draw(t, "reset")})
}

func (m *model) retire(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
		m.commit(Retire{By: By{Who: "kim"}})
	}
}

// edit changes the definition, or what was asked about.
func (m *model) edit(t *rapid.T) {
	m.f.Definition += "+"
	if len(m.f.Definition) > 20 {
		m.f.Definition = digest
	}
}

func (m *model) sound(*rapid.T) {
	live := uint64(0)
	if m.s.Claim != nil {
		live = m.s.Claim.Token
	}
	want := func(what string, ok bool) {
		if !ok {
			m.t.Fatalf("%s: %s", what, encode(m.t, m.s))
		}
	}
	want("one live token", live == m.live)
	want("the operators' wish", m.s.Control.Desired == m.desired)
	want("a claim and a request", m.s.Claim == nil || m.s.Approval == nil)
	want("a halted loop at work", m.s.Halt == nil || m.s.Claim == nil)
	want("it is shown", m.s.Shown(m.f, m.now).Status != "")
	m.wayOut()
}
