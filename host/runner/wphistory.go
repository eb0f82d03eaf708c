package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// WPHistory is all that happened to one work package, oldest first.
type WPHistory struct {
	Schema      int        `json:"schema"`
	MissionSlug string     `json:"mission_slug"`
	RunID       *string    `json:"run_id"`
	Source      string     `json:"source"`
	WPID        string     `json:"wp_id"`
	Changes     []WPChange `json:"changes"`
	Warnings    []Warning  `json:"warnings"`
}

// WPChange is one thing that happened to a package: in the run, with its
// revision, or in the lane log, with its event id. What a change does not have
// is null or "".
type WPChange struct {
	At       string  `json:"at"`
	Actor    string  `json:"actor"`
	Change   string  `json:"change"` // moved, noted, issued, reported, released, stopped, retried
	Revision *uint64 `json:"revision"`
	EventID  *string `json:"event_id"`
	From     *string `json:"from"`
	To       *string `json:"to"`
	StepID   *string `json:"step_id"`
	Attempt  *int    `json:"attempt"`
	Result   *string `json:"result"` // of a report; of a stop: failed or blocked
	Holder   string  `json:"holder"` // whom it is with from then on, or who reported
	Author   string  `json:"author"`
	Reason   string  `json:"reason"`
	Force    bool    `json:"force"`
}

// dated is a change with its time, to order it by.
type dated struct {
	at time.Time
	WPChange
}

// WPHistory reads the history of one work package: of the mission's latest run,
// and of the lane log where the lanes lie there. It writes nothing.
func (p *Project) WPHistory(ctx context.Context, handle, id string) (WPHistory, error) {
	s, err := p.shelf(ctx, handle)
	if err == nil {
		err = s.has(id)
	}
	if err != nil {
		return WPHistory{}, classify(err)
	}
	h := WPHistory{Schema: Schema, MissionSlug: s.mission.Slug, RunID: text(s.state.Run), Source: string(s.source()),
		WPID: id, Changes: []WPChange{}, Warnings: []Warning{}}
	dated, err := s.history(ctx, id)
	if err != nil {
		return WPHistory{}, classify(err)
	}
	for _, c := range dated {
		h.Changes = append(h.Changes, c.WPChange)
	}
	h.Warnings = append(h.Warnings, s.warnings...)
	return h, nil
}

// history merges the run's and the log's changes by time; of one commit the log's
// first: a hand-out follows the move that it is about.
func (s *shelf) history(ctx context.Context, id string) ([]dated, error) {
	tale := tale{id: id, issues: map[string]cursor.Issued{}, times: map[uint64]time.Time{}}
	if s.run != nil {
		if err := s.run.store.Records(ctx, 1, tale.record); err != nil {
			return nil, err
		}
		if tale.newer > 0 {
			s.warn("newer_records", fmt.Sprintf("%d records are from a newer version and were left out", tale.newer))
		}
	}
	all, err := s.logged(id, tale.times)
	if err != nil {
		return nil, err
	}
	all = append(all, tale.changes...)
	slices.SortStableFunc(all, func(a, b dated) int { return a.at.Compare(b.at) })
	return all, nil
}

// logged are the changes that the lane log has. Those of our own commits take
// the time of their record to be ordered by.
func (s *shelf) logged(id string, times map[uint64]time.Time) (all []dated, err error) {
	if s.source() != cursor.KittySpecs {
		return nil, nil
	}
	beside, _ := s.packages()
	changes, err := beside.lanes.History(id)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		change := ofLog(c)
		if at, ours := times[c.Revision]; ours && c.Run == s.state.Run {
			change.at = at
		}
		all = append(all, change)
	}
	return all, nil
}

func ofLog(c lanes.Change) dated {
	change := WPChange{
		At: stamp(c.At), Actor: c.Actor, Change: "moved", EventID: text(c.EventID),
		From: text(string(c.From)), To: text(string(c.To)), Holder: c.Agent, Author: c.Author, Reason: c.Reason, Force: c.Force,
	}
	if c.To == "" {
		change.Change = "noted"
	}
	return dated{at: c.At, WPChange: change}
}

// tale picks what concerns one package out of a run's records.
type tale struct {
	id      string
	issues  map[string]cursor.Issued // of the package, by token
	lane    mission.Lane             // where the run's own moves left it
	changes []dated
	times   map[uint64]time.Time // of the records that moved it in the lane log
	newer   int
}

func (t *tale) record(rec commit.Record[cursor.Event]) error {
	if rec.Newer != "" {
		t.newer++
	}
	for _, e := range rec.Events {
		if m, ok := e.Event.(cursor.Moved); ok && m.Package == t.id && m.Source == cursor.KittySpecs {
			t.times[rec.Revision] = rec.At
		}
		if c, ok := t.change(e.Event); ok {
			c.At, c.Actor, c.Revision = stamp(rec.At), rec.Actor, &rec.Revision
			t.changes = append(t.changes, dated{at: rec.At, WPChange: c})
		}
	}
	return nil
}

// change is an event as a change of the package; ok is false where it is about
// something else.
func (t *tale) change(event cursor.Event) (c WPChange, ok bool) {
	switch e := event.(type) {
	case cursor.Rewound:
		return t.rewound(e)
	case cursor.Moved:
		if e.Package == t.id {
			t.lane = e.To
		}
		c = WPChange{Change: "moved", From: text(string(e.From)), To: text(string(e.To)),
			Holder: named(e.Holder), Author: named(e.Author), Reason: e.Reason, Force: e.Force}
		return c, e.Package == t.id && e.Source != cursor.KittySpecs // else the lane log has it
	case cursor.Issued:
		if e.Package != t.id {
			return c, false
		}
		t.issues[e.Token] = e
		return WPChange{Change: "issued", StepID: text(e.Step), Attempt: &e.Attempt, Holder: named(e.Holder)}, true
	case cursor.Reported:
		return t.reported(e), e.Package == t.id
	case cursor.Released:
		issue, ok := t.issues[e.Token]
		return WPChange{Change: "released", StepID: text(issue.Step), Attempt: &issue.Attempt, Reason: e.Reason}, ok
	case cursor.Stopped:
		c = WPChange{Change: "stopped", StepID: text(e.Step), Result: text(string(e.Stop)), Reason: e.Reason}
		return c, e.Package == t.id
	case cursor.Retried:
		c = WPChange{Change: "retried", StepID: text(e.Step), Reason: e.Reason}
		return c, e.Package == t.id
	}
	return c, false
}

// rewound is the move of a package whose lane went back with the run.
func (t *tale) rewound(e cursor.Rewound) (WPChange, bool) {
	was, ok := e.Packages[t.id]
	if !ok {
		return WPChange{}, false
	}
	if was.Lane == "" {
		was.Lane = mission.Planned
	}
	from := t.lane
	t.lane = was.Lane
	return WPChange{Change: "moved", From: text(string(from)), To: text(string(was.Lane)),
		Author: named(was.Author), Reason: e.Reason, Force: true}, from != was.Lane
}

func (t *tale) reported(e cursor.Reported) WPChange {
	c := WPChange{Change: "reported", StepID: text(e.Step), Result: text(string(e.Result)), Holder: named(e.By), Reason: e.Reason}
	if e.Outcome != "" {
		c.Result = text(string(e.Outcome))
	}
	if issue, ok := t.issues[e.Token]; ok {
		c.Attempt = &issue.Attempt
	}
	return c
}

// named is a holder as documents have it; "" for nobody.
func named(h cursor.Holder) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}
