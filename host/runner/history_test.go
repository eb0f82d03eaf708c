package runner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// A history is what several agents asked of one run at the same time and what
// they were told, with the times of call and return. It is right if some order
// of the calls, each at one moment between its call and its return, is one that
// the sequential model allows.

// historyAgent is one client of a history.
type historyAgent struct {
	id     int
	player player
	mine   string   // the work that it was handed and did not report
	old    []string // what it reported
	plan   []byte   // saved, not applied
	planAt string
	at     string // the step that it heard of last
	over   bool
	broken string // why it cannot go on
}

// history drives the agents and records what they did.
type history struct {
	rng    *rand.Rand
	start  time.Time
	mu     sync.Mutex
	ops    []porcupine.Operation // guarded by mu
	shared string                // the token that was handed out last; guarded by mu while calls are under way

	releases int // that may still be asked for: each puts the end of the run off
}

// choose picks an agent's next call. Sharing tokens and repeating old ones is
// what agents that crashed and came back do.
func (h *history) choose(a *historyAgent, pick int) asked {
	c := asked{op: "next", agent: a.id, token: a.mine}
	switch {
	case pick < 15:
		return asked{op: "query", agent: a.id}
	case a.at == modelPack:
		return h.chooseAtPack(a, pick)
	case pick < 35:
		return asked{op: "answer", agent: a.id, input: h.rng.IntN(2), value: []string{"yes", "no"}[h.rng.IntN(2)]}
	case a.plan != nil && pick < 85:
		return asked{op: "apply", agent: a.id, planAt: a.planAt}
	case a.mine == "" && a.plan == nil && pick < 50:
		return asked{op: "plan", agent: a.id}
	case a.mine == "" && pick < 66:
		return asked{op: "claim", agent: a.id, value: []string{"", "WP01", "WP02", "WP03"}[h.rng.IntN(4)]}
	case pick < 65 && len(a.old) > 0:
		c.token = a.old[len(a.old)-1]
	case pick < 75 && a.mine == "":
		c.token = h.shared
	case pick < 80:
		c.token = ""
	}
	return c
}

// chooseAtPack is choose where packages are worked on: agents claim the same few of
// them, report them and take them from each other, so that what is claimed at one
// moment often was another's, or free, at the one before.
func (h *history) chooseAtPack(a *historyAgent, pick int) asked {
	names := []string{"WP01", "WP02", "WP03"}
	switch {
	case pick < 55 && h.releases > 0:
		h.releases--
		return asked{op: "release", agent: a.id, value: names[h.rng.IntN(3)]}
	case a.mine == "" && pick < 95:
		return asked{op: "claim", agent: a.id, value: append(names, "")[h.rng.IntN(4)]}
	case pick < 70 && len(a.old) > 0:
		return asked{op: "next", agent: a.id, token: a.old[len(a.old)-1]}
	}
	return asked{op: "next", agent: a.id, token: a.mine}
}

func (a *historyAgent) order(c asked) order {
	who := Caller{Agent: fmt.Sprintf("agent-%d", a.id)}
	q := &Request{Mission: "m", Caller: who, Result: cursor.Success, Token: c.token}
	switch c.op {
	case "query":
		return order{Query: true, By: who}
	case "answer":
		q.Result, q.Answer, q.Decision = "", &c.value, fmt.Sprintf("input:q%d", c.input)
	case "claim":
		return order{Claim: &ClaimRequest{Mission: "m", Caller: who, Package: c.value}}
	case "release":
		return order{Release: &OperatorRequest{Mission: "m", Actor: who.Agent, Package: c.value, Reason: "history"}}
	case "plan":
		return order{Request: q, Plan: true}
	case "apply":
		return order{Apply: a.plan}
	}
	return order{Request: q}
}

// call makes one call and records it.
func (h *history) call(a *historyAgent, c asked, meet func()) {
	from := time.Since(h.start)
	e, err := a.player.play(a.order(c), meet)
	to := time.Since(h.start)
	if err != nil {
		a.broken = err.Error()
		return
	}
	out := hear(c, e)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: a.id, Input: c, Call: from.Nanoseconds(), Output: out, Return: to.Nanoseconds()})
	a.learn(c, out, e)
	if out.recorded && out.token != "" {
		h.shared = out.token
	}
}

// hear takes from an answer what the model speaks of.
func hear(c asked, e event) heard {
	if e.Answer == nil {
		return heard{err: e.Code}
	}
	a := e.Answer
	out := heard{
		kind: a.Kind, code: code(*a), state: a.MissionState, revision: a.Revision, recorded: a.Recorded, replayed: a.Replayed,
		step: value(a.StepID), pkg: value(a.WPID), token: value(a.Token), open: len(a.OpenDecisions),
	}
	var plan savedPlan
	if c.op == "plan" && e.Plan != nil && json.Unmarshal(e.Plan, &plan) == nil && plan.Report != nil && plan.Report.Base.Issue == "" {
		out.planAt = plan.Report.Base.Step
	}
	return out
}

func (a *historyAgent) learn(c asked, h heard, e event) {
	switch {
	case h.planAt != "":
		a.plan, a.planAt = e.Plan, h.planAt
	case c.op == "apply":
		a.plan = nil
	case c.op == "next" && c.token != "" && c.token == a.mine:
		a.mine, a.old = "", append(a.old, c.token)
	}
	if h.state != "" {
		a.at = h.state
	}
	if c.op != "query" && c.op != "plan" && h.recorded && !h.replayed && h.kind == KindStep {
		a.mine = h.token
	}
	a.over = h.kind == KindTerminal
}

// run drives agents to the end of a run, or for some rounds. Most rounds are
// met: each call has read before one commits. The others run freely.
func (h *history) run(t *testing.T, players []player) {
	t.Helper()
	agents := make([]*historyAgent, len(players))
	for i, p := range players {
		agents[i] = &historyAgent{id: i, player: p}
	}
	for range 60 {
		b, met := newBarrier(len(agents)), h.rng.IntN(4) > 0
		calls := make([]asked, len(agents)) // all chosen before one begins
		for i, a := range agents {
			calls[i] = h.choose(a, h.rng.IntN(100))
		}
		var all sync.WaitGroup
		for i, a := range agents {
			meet, leave := b.meeting()
			if !met || calls[i].op == "query" {
				leave()
				meet = func() {}
			}
			all.Go(func() {
				defer leave()
				h.call(a, calls[i], meet)
			})
		}
		all.Wait()
		for _, a := range agents {
			if a.broken != "" {
				t.Fatalf("agent %d: %s", a.id, a.broken)
			}
		}
		if !slices.ContainsFunc(agents, func(a *historyAgent) bool { return !a.over }) {
			return
		}
	}
}

// judge holds the history against the model. What it prints begins with the
// longest order that is right, in that order; what follows fits nowhere.
func (h *history) judge(t *testing.T, seed uint64) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(runModel(), h.ops, time.Minute)
	if result == porcupine.Ok {
		return
	}
	var longest []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	var out strings.Builder
	for _, i := range longest {
		describe(&out, h.ops[i])
	}
	fmt.Fprintln(&out, "no order goes on from here:")
	for i, op := range h.ops {
		if !slices.Contains(longest, i) {
			describe(&out, op)
		}
	}
	t.Fatalf("seed %d: no order of these calls is right (%s):\n%s", seed, result, &out)
}

func describe(out *strings.Builder, op porcupine.Operation) {
	fmt.Fprintf(out, "%9d %9d  %s -> %s\n", op.Call/1000, op.Return/1000, op.Input.(asked), op.Output.(heard))
}

// histories runs some histories, each on a new project.
func histories(t *testing.T, n int, players func(root string) []player) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", first)
	total, recorded := 0, map[string]int{}
	for round := range rounds(t, n) {
		root := makeProject(t, modelDefinition(), packages(modelPackages))
		p := open(t, root)
		if e := (order{Start: &StartRequest{Slug: "m"}}).call(p); e.Answer == nil || e.Answer.Revision != 1 {
			t.Fatalf("start: %+v", e)
		}
		s := first + uint64(round)
		h := &history{rng: rand.New(rand.NewPCG(s, 0)), start: time.Now(), releases: 40}
		h.run(t, players(root))
		h.judge(t, s)
		wantSound(t, p)
		for _, op := range h.ops {
			if out := op.Output.(heard); out.recorded && !out.replayed {
				recorded[op.Input.(asked).op]++
			}
		}
		total += len(h.ops)
		p.Close()
	}
	t.Logf("%d calls, of which were recorded %v, are linearizable", total, recorded)
	if recorded["claim"] == 0 || recorded["release"] == 0 {
		t.Error("no package was claimed, or none released")
	}
}

// P1, P3, SC-001: advances, saved plans, answers, claims, releases and queries of four
// agents at once, each with a project of its own in this process.
func TestHistoryInProcess_SC001(t *testing.T) {
	histories(t, 100, func(root string) []player {
		var all []player
		for range modelAgents {
			all = append(all, newLocalPlayer(t, root))
		}
		return all
	})
}

// P1, P3, SC-001: the same by four processes.
func TestHistoryAcrossProcesses_SC001(t *testing.T) {
	hands := make([]*hand, modelAgents)
	for i := range hands {
		hands[i] = startHand(t)
	}
	histories(t, 60, func(root string) []player {
		var all []player
		for _, h := range hands {
			all = append(all, handPlayer{h: h, root: root})
		}
		return all
	})
}
