package runner

import (
	"context"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// The states of an asking.
const (
	DecisionOpen      = "open"
	DecisionPostponed = "postponed" // open, and put off
	DecisionAnswered  = "answered"
	DecisionReplaced  = "replaced"  // answered, and another answer took its place
	DecisionWithdrawn = "withdrawn" // it ended without an answer, or its answer was taken back
)

// DecisionList is all askings of a run, oldest first.
type DecisionList struct {
	Schema      int           `json:"schema"`
	MissionSlug string        `json:"mission_slug"`
	RunID       *string       `json:"run_id"`
	Decisions   []DecisionRow `json:"decisions"`
	Warnings    []Warning     `json:"warnings"`
}

// DecisionRow is one asking of a question and what became of it. An answer that
// was replaced has a row of its own.
type DecisionRow struct {
	ID       string   `json:"decision_id"`
	Token    string   `json:"decision_token"`
	State    string   `json:"state"`
	StepID   string   `json:"step_id"` // where it was asked
	InputKey *string  `json:"input_key"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Asked    string   `json:"asked"` // when
	Answer   *string  `json:"answer"`
	By       string   `json:"by"` // who answered, postponed or withdrew it
	At       *string  `json:"at"` // when; null: it is open
	Reason   string   `json:"reason"`

	TakenBack *TakenBack `json:"taken_back"` // null: the answer, if there is one, was not
	UsedAt    string     `json:"used_at"`    // the first step that was completed with the answer; "": it may still be replaced
}

// TakenBack says who took an answer back, by a rewind. Who gave it stays in the row.
type TakenBack struct {
	By     string `json:"by"`
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// DecisionPage is one question: each of its askings, and how to answer it.
type DecisionPage struct {
	Schema      int           `json:"schema"`
	MissionSlug string        `json:"mission_slug"`
	RunID       *string       `json:"run_id"`
	ID          string        `json:"decision_id"`
	State       string        `json:"state"` // of the newest asking
	MayAnswer   string        `json:"may_answer"`
	Askings     []DecisionRow `json:"askings"`
	Recover     []string      `json:"recover"`
	Warnings    []Warning     `json:"warnings"`
}

// Decisions lists the questions of a mission's latest run, also those that are
// over. It writes nothing.
func (p *Project) Decisions(ctx context.Context, handle string) (DecisionList, error) {
	r, rows, err := p.askings(ctx, handle)
	if err != nil {
		return DecisionList{}, classify(err)
	}
	return DecisionList{Schema: Schema, MissionSlug: r.mission.Slug, RunID: text(r.state.Run), Decisions: rows,
		Warnings: append([]Warning{}, r.warnings...)}, nil
}

// Decision shows one question with all its askings. It writes nothing.
func (p *Project) Decision(ctx context.Context, handle, id string) (DecisionPage, error) {
	if err := checkDecision(id); err != nil {
		return DecisionPage{}, err
	}
	r, rows, err := p.askings(ctx, handle)
	if err != nil {
		return DecisionPage{}, classify(err)
	}
	var known []string
	for _, row := range rows {
		known = append(known, row.ID)
	}
	rows = slices.DeleteFunc(rows, func(row DecisionRow) bool { return row.ID != id })
	if len(rows) == 0 {
		slices.Sort(known)
		e := fail(Code(cursor.DecisionNotFound), "`spec-kitty decision list` shows the questions there are", "this run has no question %q", id)
		e.Candidates = slices.Compact(known)
		return DecisionPage{}, e
	}
	page := DecisionPage{Schema: Schema, MissionSlug: r.mission.Slug, RunID: text(r.state.Run), ID: id,
		State: rows[len(rows)-1].State, MayAnswer: r.mayAnswer(id), Askings: rows, Recover: []string{}, Warnings: append([]Warning{}, r.warnings...)}
	if _, open := r.state.Asking(id); open {
		page.Recover = append(page.Recover, "spec-kitty help answer")
	}
	return page, nil
}

// mayAnswer says who may answer a question: anyone, a person, or whom the run
// names.
func (r *reading) mayAnswer(id string) string {
	if !cursor.IsAudit(id) {
		return "anyone"
	}
	if owner := r.state.Cursor.Inputs[cursor.OwnerInput]; owner != "" {
		return owner
	}
	return "a person"
}

// askings reads the run and gathers its askings out of the journal.
func (p *Project) askings(ctx context.Context, handle string) (*reading, []DecisionRow, error) {
	r, err := p.read(ctx, handle)
	if err != nil {
		return nil, nil, err
	}
	if r.run == nil {
		return nil, nil, commit.ErrNoRun
	}
	m := minutes{rows: []DecisionRow{}}
	if err := r.run.store.Records(ctx, 1, m.record); err != nil {
		return nil, nil, err
	}
	if m.newer > 0 {
		r.warn("newer_records", itoa(m.newer)+" records are from a newer version and were left out")
	}
	return r, m.rows, nil
}

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
	meta := cursor.Meta{Revision: rec.Revision, At: rec.At, Actor: rec.Actor, Kind: rec.Kind}
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
	when := meta.At.UTC().Format(time.RFC3339Nano)
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
