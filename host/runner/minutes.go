package runner

import (
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// minutes folds a run and notes what became of its questions.
type minutes struct {
	state cursor.State
	rows  []DecisionRow
	newer int
}

func (m *minutes) record(rec commit.Record[cursor.Event]) error {
	if rec.Newer != "" {
		m.newer++
		return nil
	}
	meta := metaOf(rec.Meta)
	for _, e := range rec.Events {
		if !e.Known {
			m.newer++
			continue
		}
		before := m.state
		m.state = cursor.Evolve(m.state, meta, e.Event)
		m.note(meta, before, e.Event)
	}
	return nil
}

func (m *minutes) note(meta cursor.Meta, before cursor.State, event cursor.Event) {
	when := stamp(meta.At)
	switch e := event.(type) {
	case cursor.Asked:
		d := decisionOf(e.Asking)
		m.rows = append(m.rows, DecisionRow{ID: d.ID, Token: d.Token, State: DecisionOpen, StepID: m.state.Cursor.Step,
			InputKey: d.InputKey, Question: d.Question, Options: d.Options, Asked: when})
		return
	case cursor.Answered:
		m.answered(e, when)
		return
	case cursor.Postponed:
		m.end(e.Token, DecisionPostponed, e.By, when, e.Reason)
		return
	case cursor.Withdrawn:
		m.end(e.Token, DecisionWithdrawn, e.By, when, e.Reason)
		return
	case cursor.Completed:
		m.used()
	case cursor.Rewound:
		m.takenBack(e, before, meta.Actor, when)
	}
	m.lapsed(meta, before, when)
}

// used notes with which answers a step was completed.
func (m *minutes) used() {
	for i := range m.rows {
		row := &m.rows[i]
		if a := m.state.Cursor.Answers[row.ID]; row.State == DecisionAnswered && a.Token == row.Token {
			row.UsedAt = a.Used
		}
	}
}

// answered ends the row of an asking; an answer that takes another's place gets
// a row of its own after it.
func (m *minutes) answered(e cursor.Answered, when string) {
	row := m.last(e.Token)
	if row == nil && e.Replaces != "" {
		row = m.given(e, when)
	}
	if row == nil {
		return
	}
	if e.Replaces != "" {
		row.State = DecisionReplaced
		m.rows = append(m.rows, *row)
		row = &m.rows[len(m.rows)-1]
	}
	row.State, row.Answer, row.By, row.At, row.Reason = DecisionAnswered, text(e.Value), e.By, &when, e.Reason
}

// given is the row of a value that nobody was asked for: of an input given at the
// start, or a default.
func (m *minutes) given(e cursor.Answered, when string) *DecisionRow {
	m.rows = append(m.rows, DecisionRow{ID: e.ID, Token: e.Token, StepID: m.state.Cursor.Step, InputKey: text(e.Key), Options: []string{},
		Asked: when, Answer: text(e.Replaces), At: &when, Reason: "it was given at the start, or is a default"})
	return &m.rows[len(m.rows)-1]
}

// takenBack ends the rows of answers that a rewind took back. Where one had been
// replaced since, the answer before it holds again.
func (m *minutes) takenBack(e cursor.Rewound, before cursor.State, by, when string) {
	for _, id := range sortedKeys(before.Cursor.Answers) {
		was, is := before.Cursor.Answers[id], m.state.Cursor.Answers[id]
		if is.Token == was.Token && is.Value == was.Value {
			continue
		}
		if row := m.last(was.Token); row != nil {
			row.State, row.TakenBack = DecisionWithdrawn, &TakenBack{By: by, At: when, Reason: e.Reason}
		}
		if row := m.last(is.Token); row != nil {
			again := *row
			again.TakenBack = nil
			again.State, again.Answer, again.By, again.At, again.Reason = DecisionAnswered, text(is.Value), is.By, &when, "it holds again"
			m.rows = append(m.rows, again)
		}
	}
}

func (m *minutes) end(token, state, by, when, reason string) {
	if row := m.last(token); row != nil {
		row.State, row.By, row.At, row.Reason = state, by, &when, reason
	}
}

// last is the newest row of an asking.
func (m *minutes) last(token string) *DecisionRow {
	for i := len(m.rows) - 1; i >= 0; i-- {
		if m.rows[i].Token == token {
			return &m.rows[i]
		}
	}
	return nil
}

// lapsed ends the askings that another event took with it: a skip, an abort, a
// rejection that leads back.
func (m *minutes) lapsed(meta cursor.Meta, before cursor.State, when string) {
	for _, q := range before.Cursor.Questions {
		if now, open := m.state.Asking(q.ID); !open || now.Token != q.Token {
			m.end(q.Token, DecisionWithdrawn, meta.Actor, when, "it ended with the "+meta.Kind)
		}
	}
}
