package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The sequential model of a run: what calls may do and answer if they came one
// after the other. It knows the public promises only, not how they are kept: a
// report completes exactly what its token was given out for, a saved plan only
// the step that it was made at, a package is with one holder, an answer is
// stored once, tokens never repeat, and each recorded call is one revision.

// modelMission is what the model is a model of.
const modelMission = `
[missions.t]
steps = [
  { id = "g1", work_packages = GATE },
  { id = "g2", work_packages = GATE },
  { id = "g3", work_packages = GATE },
  { id = "ask", inputs = [{ key = "q0", question = "Q0?" }, { key = "q1", question = "Q1?" }] },
  { id = "pack", work_packages = { take = ["planned"], claim = "in_progress", success = "for_review", failed = "planned", until = ["for_review"] } },
  { id = "g4", work_packages = GATE },
  { id = "w1" },
  { id = "w2" },
  { id = "g5", work_packages = GATE },
  { id = "g6", work_packages = GATE },
]`

// modelGate is a package step with nothing to do: it waits for somebody to
// close it by a report without a token.
const modelGate = `{ take = ["in_review"], claim = "in_progress", success = "approved", failed = "planned", until = ["planned", "for_review", "approved"] }`

func modelDefinition() string { return strings.ReplaceAll(modelMission, "GATE", modelGate) }

const (
	modelAgents   = 4
	modelPackages = 3
	modelAsk      = "ask"
	modelPack     = "pack"
)

var modelSteps = [...]string{"g1", "g2", "g3", modelAsk, modelPack, "g4", "w1", "w2", "g5", "g6", "done"}

// asked is a call as the model takes it.
type asked struct {
	op     string // query, next, answer, claim, release, plan or apply
	agent  int
	token  string // next: "" asks for work, or closes a gate
	input  int    // answer: to q0 or q1
	value  string // of the answer; claim and release: the package, "" for the next
	planAt string // apply: the step that the plan was made at
}

// heard is what it was told.
type heard struct {
	err      Code
	kind     Kind
	code     string
	state    string
	revision uint64
	recorded bool
	replayed bool
	step     string
	pkg      string
	token    string
	open     int    // questions
	planAt   string // plan: the step that it was made at; "" for a plan of another kind
}

func (a asked) String() string {
	return strings.TrimRight(fmt.Sprintf("agent-%d %s %s%s%s", a.agent, a.op, a.token, a.value, a.planAt), " ")
}

func (h heard) String() string {
	return fmt.Sprintf("%s%s %s at %s, revision %d recorded %v replayed %v: step %q package %q token %q", h.err, h.kind, h.code, h.state, h.revision, h.recorded, h.replayed, h.step, h.pkg, h.token)
}

// work is a package, or the current step, as the model has it.
type work struct {
	token  string // "" while nobody has it
	holder int
	done   bool
}

// modelRun is the model's state. It is comparable.
type modelRun struct {
	pos      int
	revision uint64
	issue    work // of a step that is no package step
	answers  [2]string
	packages [modelPackages]work
	last     [modelAgents]string // the token that each agent reported last
	used     string              // all tokens
}

// runModel gives the model to porcupine.
func runModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return modelRun{revision: 1} },
		Step: func(state, in, out any) (bool, any) { return state.(modelRun).take(in.(asked), out.(heard)) },
		DescribeOperation: func(in, out any) string {
			return in.(asked).String() + " -> " + out.(heard).String()
		},
	}
}

func (m modelRun) step() string { return modelSteps[m.pos] }
func (m modelRun) over() bool   { return m.step() == "done" }
func (m modelRun) gate() bool   { return strings.HasPrefix(m.step(), "g") }

func (m modelRun) questions() int {
	n := 0
	for _, value := range m.answers {
		if m.step() == modelAsk && value == "" {
			n++
		}
	}
	return n
}

// find gives the open work that a token is of.
func (m *modelRun) find(token string) *work {
	if token != "" && m.issue.token == token {
		return &m.issue
	}
	for i := range m.packages {
		if token != "" && m.packages[i].token == token {
			return &m.packages[i]
		}
	}
	return nil
}

// held is the token of what an agent has; "" for nothing. The agents of a
// history never have two.
func (m modelRun) held(agent int) string {
	for _, w := range append(m.packages[:], m.issue) {
		if w.token != "" && w.holder == agent {
			return w.token
		}
	}
	return ""
}

// take tells whether the call may be answered so in this state, and the state
// after it.
func (m modelRun) take(c asked, h heard) (bool, modelRun) {
	switch c.op {
	case "answer":
		return m.answer(c, h)
	case "release":
		return m.release(c, h)
	}
	if h.err != "" {
		return false, m
	}
	switch c.op {
	case "query":
		return m.query(c, h), m
	case "plan":
		return h.planAt == "" || h.planAt == m.step(), m
	case "claim":
		return m.claim(c, h)
	case "apply":
		return m.apply(c, h)
	}
	if c.token != "" {
		return m.report(c, h)
	}
	return m.ask(c, h)
}

func (m modelRun) query(c asked, h heard) bool {
	shown := m.held(c.agent)
	if shown == "" {
		shown = m.issue.token
	}
	return h.revision == m.revision && h.state == m.step() && h.open == m.questions() && h.token == shown
}

func (m modelRun) answer(c asked, h heard) (bool, modelRun) {
	before := m.answers[c.input]
	open := m.step() == modelAsk && before == ""
	switch {
	case h.err == "decision_conflict":
		return before != "" && before != c.value, m
	case h.err == "decision_not_found":
		return before == "" && !open, m
	case h.err != "" || !h.recorded:
		return false, m
	case h.replayed:
		return before == c.value && h.revision == m.revision, m
	}
	m.answers[c.input] = c.value
	m.revision++
	return open && h.revision == m.revision, m
}

// release takes a package from whoever has it.
func (m modelRun) release(c asked, h heard) (bool, modelRun) {
	at := &m.packages[c.value[len(c.value)-1]-'1']
	switch {
	case h.err == CodeNothingIssued:
		return at.token == "", m
	case h.err != "" || !h.recorded || h.replayed || at.token == "":
		return false, m
	}
	*at = work{}
	m.revision++
	return h.revision == m.revision, m
}

// claim hands out a package by its name, or the next one. Agents claim while they
// hold nothing.
func (m modelRun) claim(c asked, h heard) (bool, modelRun) {
	named := -1
	if c.value != "" {
		named = int(c.value[len(c.value)-1] - '1')
	}
	switch {
	case m.held(c.agent) != "":
		return false, m
	case h.kind == KindStep:
		return m.step() == modelPack && m.questions() == 0 && m.claimed(named, h), m.handed(c.agent, named, h)
	case h.kind == KindTerminal:
		return m.over(), m
	case h.kind == KindDecision:
		return m.questions() > 0, m
	case h.code == "package_held":
		return named >= 0 && m.packages[named].token != "", m
	case h.code == "waiting_for_work_packages":
		gone := named >= 0 && m.packages[named].done || named < 0 && m.free() < 0
		return m.step() != modelPack || gone, m
	}
	return false, m
}

// claimed tells whether a package that nobody had may be handed out so.
func (m modelRun) claimed(named int, h heard) bool {
	if named < 0 {
		named = m.free()
	}
	return named >= 0 && m.packages[named] == work{} && h.recorded && !h.replayed && h.revision == m.revision+1 &&
		h.pkg == fmt.Sprintf("WP%02d", named+1) && h.token != "" && !strings.Contains(m.used, h.token)
}

// handed is the state after that.
func (m modelRun) handed(agent, named int, h heard) modelRun {
	if named < 0 {
		named = m.free()
	}
	if named >= 0 {
		m.packages[named] = work{token: h.token, holder: agent}
	}
	m.revision++
	m.used += h.token + " "
	return m
}

func moved(code string) bool { return code == "cursor_moved" || code == "stale_plan" }

func (m modelRun) apply(c asked, h heard) (bool, modelRun) {
	if !h.recorded {
		return moved(h.code) && m.step() != c.planAt, m
	}
	if h.replayed || m.step() != c.planAt {
		return false, m
	}
	m.last[c.agent] = ""
	return m.enter().deliver(c.agent, h)
}

func (m modelRun) report(c asked, h heard) (bool, modelRun) {
	at := m.find(c.token)
	switch {
	case h.recorded && h.replayed:
		return m.last[c.agent] == c.token && h.revision == m.revision, m
	case !h.recorded:
		return at == nil && (moved(h.code) || h.code == "stale_token"), m
	case at == nil:
		return false, m
	}
	return m.finish(at).reported(c, c.token, h)
}

func (m modelRun) reported(c asked, token string, h heard) (bool, modelRun) {
	m.last[c.agent] = token
	return m.deliver(c.agent, h)
}

// ask is a call without a token: a report where the agent has something or a
// gate is to be closed, else it asks for work.
func (m modelRun) ask(c asked, h heard) (bool, modelRun) {
	mine := m.held(c.agent)
	if !h.recorded {
		return m.askedInVain(c, h, mine), m
	}
	switch {
	case h.replayed:
		return false, m
	case mine != "":
		return m.finish(m.find(mine)).reported(c, mine, h)
	case m.gate():
		return m.enter().reported(c, "", h)
	}
	ok, after := m.deliver(c.agent, h)
	return ok && h.token != "", after
}

func (m modelRun) askedInVain(c asked, h heard, mine string) bool {
	switch {
	case h.kind == KindStep:
		return h.token == mine && mine != ""
	case h.kind == KindDecision:
		return m.questions() > 0
	case h.kind == KindTerminal:
		return m.over()
	case h.code == "not_holder":
		return m.issue.token != "" && m.issue.holder != c.agent
	case h.code == "waiting_for_work_packages":
		return m.step() == modelPack && m.free() < 0
	}
	return moved(h.code) // what it saw at its first read, nobody else knows
}

// finish ends a work that was handed out.
func (m modelRun) finish(w *work) modelRun {
	if *w == m.issue {
		m.issue = work{}
		return m.enter()
	}
	i := slices.Index(m.packages[:], *w)
	m.packages[i] = work{done: true}
	if !slices.ContainsFunc(m.packages[:], func(w work) bool { return !w.done }) {
		return m.enter()
	}
	return m
}

func (m modelRun) enter() modelRun {
	m.pos++
	return m
}

// free is the first package that nobody had; below 0 for none.
func (m modelRun) free() int { return slices.Index(m.packages[:], work{}) }

// deliver is the end of a recorded call: what comes next is handed to its
// caller, where there is something to hand out.
func (m modelRun) deliver(agent int, h heard) (bool, modelRun) {
	m.revision++
	if h.revision != m.revision || h.state != m.step() {
		return false, m
	}
	w, id := &m.issue, ""
	switch {
	case m.over():
		return h.kind == KindTerminal, m
	case m.gate():
		return h.kind == KindQuery && h.token == "", m
	case m.questions() > 0:
		return h.kind == KindDecision && h.token == "", m
	case m.step() == modelPack:
		i := m.free()
		if i < 0 {
			return h.kind == KindBlocked && h.code == "waiting_for_work_packages", m
		}
		w, id = &m.packages[i], fmt.Sprintf("WP%02d", i+1)
	}
	if h.kind != KindStep || h.token == "" || h.step != m.step() || h.pkg != id || w.token != "" || strings.Contains(m.used, h.token) {
		return false, m
	}
	*w = work{token: h.token, holder: agent}
	m.used += h.token + " "
	return true, m
}
