package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// RunRow is one run in a listing. A damaged run has an Error and is never left
// out.
type RunRow struct {
	RunID        string `json:"run_id"`
	MissionSlug  string `json:"mission_slug"`
	MissionType  string `json:"mission_type"`
	MissionState string `json:"mission_state"`
	Revision     uint64 `json:"revision"`
	Damaged      bool   `json:"damaged"`
	Error        string `json:"error"`
	NextStep     string `json:"next_step"` // what to do about the error
}

// damagedState is the mission state of a run that cannot be read.
const damagedState = "damaged"

// broken marks a row of a run that cannot be shown, or whose mission cannot.
func (r *RunRow) broken(err error) {
	r.Damaged, r.Error, r.MissionState = true, err.Error(), damagedState
	if known := new(Error); errors.As(classify(err), &known) {
		r.NextStep = known.Next()
		if known.Code == CodeRunMissing {
			r.Error = string(CodeRunMissing) + ": " + r.Error
		}
	}
}

// List lists all runs, oldest first.
func (p *Project) List(ctx context.Context) ([]RunRow, error) {
	entries, err := p.runs.List(ctx)
	if err != nil {
		return nil, classify(err)
	}
	gone, err := p.gone(ctx)
	if err != nil {
		return nil, classify(err)
	}
	entries = append(entries, gone...)
	slices.SortStableFunc(entries, func(a, b commit.Entry) int { return strings.Compare(a.ID, b.ID) })
	rows := make([]RunRow, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, p.row(ctx, e))
	}
	return rows, nil
}

// gone lists the runs whose folders are gone.
func (p *Project) gone(ctx context.Context) ([]commit.Entry, error) {
	keeper, ok := p.runs.(commit.Keeper)
	if !ok {
		return nil, nil
	}
	gone, err := keeper.Gone(ctx)
	for i, e := range gone {
		gone[i].Err = &commit.GoneError{Slug: e.Slug, ID: e.ID}
	}
	return gone, err
}

func (p *Project) row(ctx context.Context, e commit.Entry) RunRow {
	row := RunRow{RunID: e.ID, MissionSlug: e.Slug}
	err := e.Err
	if err == nil {
		err = p.fillRow(ctx, e.ID, &row)
	}
	if err != nil {
		row.broken(err)
	}
	return row
}

func (p *Project) fillRow(ctx context.Context, id string, row *RunRow) error {
	store, err := p.runs.Open(ctx, id)
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Read(ctx)
	if err != nil {
		return err
	}
	r := reading{state: snap.State}
	row.MissionSlug, row.MissionType = snap.State.Mission, snap.State.Type
	row.MissionState, row.Revision = r.missionState(), snap.Revision
	return nil
}

// Overview is a run for people and boards: what is handed out to whom, what is
// asked, what stands still and why, where the packages lie.
type Overview struct {
	Schema        int               `json:"schema"`
	MissionSlug   string            `json:"mission_slug"`
	MissionNumber string            `json:"mission_number"`
	MissionType   string            `json:"mission_type"`
	RunID         *string           `json:"run_id"`
	MissionState  string            `json:"mission_state"`
	Revision      uint64            `json:"revision"`
	Steps         []StepRow         `json:"steps"`
	Issues        []IssueRow        `json:"issues"`
	OpenDecisions []Decision        `json:"open_decisions"`
	Block         *Block            `json:"block"`
	Packages      []PackageRow      `json:"packages"`
	Progress      *lanes.Progress   `json:"progress"`
	Inputs        map[string]string `json:"inputs"`
	Warnings      []Warning         `json:"warnings"`
}

// StepRow is one step of the definition.
type StepRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	State string `json:"state"` // done, current or open
}

// IssueRow is one piece of work that is handed out.
type IssueRow struct {
	StepID  string      `json:"step_id"`
	WPID    string      `json:"wp_id"`
	Token   string      `json:"token"`
	Attempt int         `json:"attempt"`
	Holder  HolderSince `json:"holder"`
}

// Block is why nothing goes on, and the way out.
type Block struct {
	ReasonCode string   `json:"reason_code"`
	Reason     string   `json:"reason"`
	Recover    []string `json:"recover"`
}

// PackageRow is one package.
type PackageRow struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Lane      string   `json:"lane"`
	Holder    string   `json:"holder"`
	Author    string   `json:"author"`
	DependsOn []string `json:"depends_on"`
	Stopped   string   `json:"stopped"` // why it is kept back; "" where it is not
	NoFile    bool     `json:"no_file"` // only the lane log knows it; it is not counted
}

// Show gives the overview of a mission's latest run, or of the run of an id. It
// writes nothing.
func (p *Project) Show(ctx context.Context, name string) (Overview, error) {
	r, err := p.readNamed(ctx, name)
	if err != nil {
		return Overview{}, classify(err)
	}
	o, err := r.overview()
	return o, classify(err)
}

// glance is Show of one of many: nothing of the run stays open, as a project may
// have thousands.
func (p *Project) glance(ctx context.Context, slug string) (Overview, error) {
	store, err := p.runs.Lookup(ctx, slug)
	if err != nil {
		return Overview{}, classify(err)
	}
	r, err := p.apart(ctx, store)
	if err != nil {
		return Overview{}, classify(err)
	}
	defer r.run.close()
	o, err := r.overview()
	return o, classify(err)
}

func (r *reading) overview() (Overview, error) {
	if r.run != nil {
		r.whole = true
		r.drifts()
	}
	a := r.head(Caller{})
	o := Overview{
		Schema: Schema, MissionSlug: a.MissionSlug, MissionNumber: a.MissionNumber, MissionType: a.MissionType,
		RunID: a.RunID, MissionState: a.MissionState, Revision: a.Revision, Progress: a.Progress,
		Steps: []StepRow{}, Issues: []IssueRow{}, OpenDecisions: []Decision{}, Packages: []PackageRow{},
		Inputs: map[string]string{}, Warnings: []Warning{},
	}
	if r.run == nil {
		o.Warnings = append(o.Warnings, r.warnings...)
		return o, nil
	}
	if err := r.showSteps(&o); err != nil {
		return o, err
	}
	o.Issues = r.issueRows()
	r.showQuestions(&a, Caller{})
	o.OpenDecisions = a.OpenDecisions
	r.showPackages(&o)
	for key, value := range r.state.Cursor.Inputs {
		o.Inputs[key] = value
	}
	here, err := cursor.At(r.state, r.facts, cursor.Holder{})
	if err != nil {
		return o, err
	}
	if here.Why != nil && here.Why.Code != cursor.NotHolder {
		var b Answer
		r.showBlock(&b, here.Why, Caller{})
		o.Block = &Block{ReasonCode: *b.ReasonCode, Reason: *b.Reason, Recover: b.Recover}
	}
	o.Warnings = append(append(o.Warnings, r.p.faultyConfig()...), r.warnings...)
	return o, nil
}

// issueRows are what is handed out.
func (r *reading) issueRows() []IssueRow {
	rows := []IssueRow{}
	for _, i := range r.state.Issues() {
		rows = append(rows, IssueRow{StepID: i.Step, WPID: i.Package, Token: i.Token, Attempt: i.Attempt, Holder: holds(i.Holder, i.Since)})
	}
	return rows
}

func (r *reading) showSteps(o *Overview) error {
	for pos := range r.facts.Def.Len() {
		def, err := r.facts.Def.Step(pos)
		if err != nil {
			return err
		}
		row := StepRow{ID: def.ID, Title: def.Title, State: "open"}
		switch {
		case r.state.Cursor.Done.Has(pos):
			row.State = "done"
		case pos == r.state.Cursor.Pos:
			row.State = "current"
		}
		o.Steps = append(o.Steps, row)
	}
	return nil
}

func (r *reading) showPackages(o *Overview) {
	for _, p := range r.facts.Packages {
		own := r.state.Packages[p.ID]
		o.Packages = append(o.Packages, PackageRow{
			ID: p.ID, Title: p.Title, Lane: string(r.state.Lane(r.facts, p.ID)),
			Holder: named(r.state.HolderOf(r.facts, p.ID)), Author: named(r.state.AuthorOf(r.facts, p.ID)),
			DependsOn: listed(p.DependsOn), Stopped: cmp.Or(own.Reason, string(own.Stop)),
		})
	}
	r.showLanesWithoutFile(o)
}

// showLanesWithoutFile lists packages that only the lane log knows. They are
// shown and not counted.
func (r *reading) showLanesWithoutFile(o *Overview) {
	for _, at := range r.laneLog().Positions {
		known := slices.ContainsFunc(r.facts.Packages, func(p cursor.PackageFact) bool { return p.ID == at.Package })
		if !known && at.Lane != mission.Genesis {
			o.Packages = append(o.Packages, PackageRow{
				ID: at.Package, Lane: string(at.Lane), Holder: at.Holder, Author: at.Author,
				DependsOn: []string{}, NoFile: true,
			})
		}
	}
}

// Status gives the overview of one mission, or of every mission that has a run.
// Missions that cannot be read come back as rows, and so does each run that is of no
// known mission.
func (p *Project) Status(ctx context.Context, handle string) ([]Overview, []RunRow, error) {
	if handle != "" {
		o, err := p.Show(ctx, handle)
		return []Overview{o}, nil, err
	}
	rows, err := p.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	latest := map[string]RunRow{}
	for _, row := range rows {
		latest[row.MissionSlug] = row // oldest first: the last one stays
	}
	var all []Overview
	var broken []RunRow
	for _, row := range rows {
		if row.MissionSlug == "" { // of a mission that nothing names any more
			broken = append(broken, row)
			continue
		}
		if latest[row.MissionSlug].RunID != row.RunID {
			continue
		}
		o, err := p.glance(ctx, row.MissionSlug)
		if err != nil {
			row.broken(err)
			broken = append(broken, row)
			continue
		}
		all = append(all, o)
	}
	return all, broken, nil
}

// LogRecord is one commit of a run's history.
type LogRecord struct {
	Revision uint64            `json:"revision"`
	At       string            `json:"at"`
	Actor    string            `json:"actor"`
	Kind     string            `json:"kind"`
	Events   []json.RawMessage `json:"events"`
	Newer    string            `json:"newer"` // why this version does not understand it; else ""
}

// Log visits the history of a mission's latest run, oldest first.
func (p *Project) Log(ctx context.Context, handle string, from uint64, visit func(LogRecord) error) error {
	r, err := p.openRun(ctx, handle)
	if err != nil {
		return classify(err)
	}
	err = r.store.Records(ctx, from, func(rec commit.Record[cursor.Event]) error {
		row := LogRecord{
			Revision: rec.Revision, At: stamp(rec.At),
			Actor: rec.Actor, Kind: rec.Kind, Events: []json.RawMessage{}, Newer: rec.Newer,
		}
		for _, e := range rec.Events {
			row.Events = append(row.Events, e.Raw)
		}
		return visit(row)
	})
	return classify(err)
}

func (p *Project) openRun(ctx context.Context, handle string) (*run, error) {
	m, err := p.missionOrSlug(ctx, handle)
	if err != nil {
		return nil, err
	}
	return p.lookup(ctx, m)
}

// Verification is what Verify found.
type Verification struct {
	Schema   int      `json:"schema"`
	RunID    string   `json:"run_id"`
	Sound    bool     `json:"sound"`
	Records  uint64   `json:"records"`
	Length   int64    `json:"length"`
	Tail     int64    `json:"tail"`
	View     string   `json:"view"`
	Problems []string `json:"problems"`

	Warnings []Warning `json:"warnings"` // of what is beside the run, such as its lane log
}

// Verify reads a whole run, a mission's latest or that of an id: checksums, chain,
// fold, state against journal, and the frozen files against the digests in the
// records. What it warns of lies outside of the run, or is a view in it, and makes it
// no less sound.
func (p *Project) Verify(ctx context.Context, name string) (Verification, error) {
	store, err := p.lookupNamed(ctx, name)
	if err != nil {
		return Verification{}, classify(err)
	}
	defer store.Close()
	report, err := store.Verify(ctx)
	if err != nil {
		return Verification{}, classify(err)
	}
	v := Verification{Schema: Schema, RunID: store.ID(), Records: report.Records, Length: report.Length,
		Tail: report.Tail, View: report.View, Problems: []string{}, Warnings: []Warning{}}
	for _, problem := range report.Problems {
		v.Problems = append(v.Problems, problem.Error())
	}
	for _, problem := range frozenProblems(ctx, store, len(report.Problems) > 0) {
		if isIndex(problem.file) {
			v.Warnings = append(v.Warnings, Warning{indexWrong, problem.why + ": `" + p.repairLine(v.RunID) + "` makes it anew"})
		} else {
			v.Problems = append(v.Problems, problem.why)
		}
	}
	v.Sound = len(v.Problems) == 0
	if r, err := p.openByID(ctx, v.RunID); err == nil { // else the problems say why not
		v.Warnings = append(v.Warnings, r.warnings...)
		r.run.close()
	}
	return v, nil
}
