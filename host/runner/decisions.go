package runner

import (
	"context"
	"slices"

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
