package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// WPRow is one work package: where it lies and whose it is. Holder, StepID,
// Token and Attempt are null where it is with nobody, or not handed out.
type WPRow struct {
	ID        string       `json:"wp_id"`
	Title     string       `json:"title"`
	Lane      string       `json:"lane"`
	Since     *string      `json:"since"` // null: it never moved
	Holder    *HolderSince `json:"holder"`
	Author    string       `json:"author"`
	DependsOn []string     `json:"depends_on"`
	WaitsFor  []string     `json:"waits_for"` // those of them that keep it back
	Stopped   string       `json:"stopped"`   // why it is kept back; "" where it is not
	StepID    *string      `json:"step_id"`   // what it is handed out for
	Token     *string      `json:"token"`
	Attempt   *int         `json:"attempt"`
	NoFile    bool         `json:"no_file"` // it has a lane and no file; it is not counted
}

// WPList is the work packages of a mission.
type WPList struct {
	Schema      int             `json:"schema"`
	MissionSlug string          `json:"mission_slug"`
	RunID       *string         `json:"run_id"`
	Source      string          `json:"source"` // journal or kitty-specs
	Packages    []WPRow         `json:"packages"`
	Progress    *lanes.Progress `json:"progress"`
	Warnings    []Warning       `json:"warnings"`
}

// WPPage is one work package with all that is known of it.
type WPPage struct {
	Schema        int            `json:"schema"`
	MissionSlug   string         `json:"mission_slug"`
	RunID         *string        `json:"run_id"`
	Source        string         `json:"source"`
	Package       WPRow          `json:"package"`
	Path          *string        `json:"path"` // of its file
	Subtasks      []string       `json:"subtasks"`
	WorkspacePath *string        `json:"workspace_path"`
	PromptFile    *string        `json:"prompt_file"`
	Report        *string        `json:"report"`   // the command line to report with
	Feedback      string         `json:"feedback"` // why its last attempt failed
	Attempts      map[string]int `json:"attempts"` // by step, those begun
	Moves         []string       `json:"moves"`    // lanes that one move leads to; none without a run that goes on
	Warnings      []Warning      `json:"warnings"`
}

// WPList lists the work packages of a mission, also of one without a run. It
// writes nothing.
func (p *Project) WPList(ctx context.Context, handle string) (WPList, error) {
	s, err := p.shelf(ctx, handle)
	if err != nil {
		return WPList{}, classify(err)
	}
	list := WPList{Schema: Schema, MissionSlug: s.mission.Slug, RunID: text(s.state.Run), Source: string(s.source()),
		Packages: []WPRow{}, Progress: lanes.Count(lanesOf(s.state, s.facts)), Warnings: []Warning{}}
	for _, id := range s.ids() {
		list.Packages = append(list.Packages, s.row(id))
	}
	list.Warnings = append(list.Warnings, s.warnings...)
	return list, nil
}

// WPShow shows one work package. It writes nothing.
func (p *Project) WPShow(ctx context.Context, handle, id string) (WPPage, error) {
	s, err := p.shelf(ctx, handle)
	if err == nil {
		err = s.has(id)
	}
	if err != nil {
		return WPPage{}, classify(err)
	}
	own := s.state.Packages[id]
	page := WPPage{Schema: Schema, MissionSlug: s.mission.Slug, RunID: text(s.state.Run), Source: string(s.source()),
		Package: s.row(id), Subtasks: []string{}, WorkspacePath: s.workspace(id), Feedback: own.Feedback,
		Attempts: map[string]int{}, Moves: s.moves(id), Warnings: []Warning{}}
	maps.Copy(page.Attempts, own.Attempts)
	for _, file := range s.files {
		if file.ID == id {
			page.Path, page.Subtasks = text(file.Path), append(page.Subtasks, file.Subtasks...)
		}
	}
	if own.Issue != nil {
		page.PromptFile, page.Report = s.promptFile(*own.Issue, false), text(s.reportLine(*own.Issue))
	}
	page.Warnings = append(page.Warnings, s.warnings...)
	return page, nil
}

// shelf is a mission's work packages as one call sees them.
type shelf struct {
	*reading
	facts cursor.Facts // with all packages, whether or not a step works on them
	files []lanes.Package
	log   lanes.Log // where the lanes lie there
}

func (p *Project) shelf(ctx context.Context, handle string) (*shelf, error) {
	r, err := p.read(ctx, handle)
	if err != nil {
		return nil, err
	}
	beside, facts := r.packages()
	if facts.Fault != nil {
		return nil, facts.Fault
	}
	s := &shelf{reading: r, facts: facts}
	if s.files, err = beside.packages.Packages(); err != nil {
		return nil, err
	}
	if s.source() == cursor.KittySpecs {
		s.log, err = beside.lanes.Read()
	}
	return s, err
}

func (s *shelf) source() cursor.Source { return s.state.SourceOf(s.facts) }

// ids are the packages with a file, in file order, then those that only have a
// lane.
func (s *shelf) ids() []string {
	var ids []string
	for _, p := range s.facts.Packages {
		ids = append(ids, p.ID)
	}
	more := sortedKeys(s.state.Packages)
	for _, at := range s.log.Positions {
		if at.Lane != mission.Genesis {
			more = append(more, at.Package)
		}
	}
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// has refuses a package that has neither a file nor a lane.
func (s *shelf) has(id string) error {
	ids := s.ids()
	switch {
	case id == "":
		return fail(CodeUsage, "name it: WP01", "no work package is named")
	case slices.Contains(ids, id):
		return nil
	}
	if err := checkID("work package", id); err != nil {
		return err
	}
	e := fail(Code(cursor.PackageNotFound), "`spec-kitty wp list` shows those that are there", "mission %s has no work package %q", s.mission.Slug, id)
	e.Candidates = ids
	if near := mission.Nearest(id, ids); near != "" {
		e.Candidates = []string{near}
		e.Message += "; did you mean " + near + "?"
	}
	return e
}

func (s *shelf) row(id string) WPRow {
	row := WPRow{ID: id, Lane: string(s.state.Lane(s.facts, id)), DependsOn: []string{}, WaitsFor: []string{}, NoFile: true,
		Since: moment(s.state.SinceOf(s.facts, id))}
	for _, p := range s.facts.Packages {
		if p.ID == id {
			row.Title, row.NoFile = p.Title, false
			row.DependsOn = append(row.DependsOn, p.DependsOn...)
			row.WaitsFor = append(row.WaitsFor, s.state.WaitsFor(s.facts, id)...)
		}
	}
	if s.source() == cursor.KittySpecs && row.NoFile {
		s.onlyInLog(&row)
		return row
	}
	since, own := s.state.SinceOf(s.facts, id), s.state.Packages[id]
	if own.Issue != nil {
		since = own.Issue.Since
		row.StepID, row.Token, row.Attempt = text(own.Issue.Step), text(own.Issue.Token), &own.Issue.Attempt
	}
	if h := s.state.HolderOf(s.facts, id); !h.IsZero() {
		is := holds(h, since)
		row.Holder = &is
	}
	row.Author = named(s.state.AuthorOf(s.facts, id))
	if row.Stopped = string(own.Stop); own.Reason != "" {
		row.Stopped += ": " + own.Reason
	}
	return row
}

// onlyInLog fills in a package without a file, which is no fact of the run.
func (s *shelf) onlyInLog(row *WPRow) {
	at := s.log.At(row.ID)
	row.Lane, row.Author, row.Since = string(at.Lane), at.Author, moment(at.Since)
	if at.Holder != "" {
		is := holds(cursor.Holder{Agent: at.Holder, Worker: at.Worker}, at.Since)
		row.Holder = &is
	}
}

// moves are the lanes that one move leads to.
func (s *shelf) moves(id string) []string {
	to := []string{}
	if s.run == nil || s.state.Phase != cursor.Running {
		return to
	}
	for _, lane := range mission.Lanes() {
		if mission.CanMove(s.state.Lane(s.facts, id), lane) {
			to = append(to, string(lane))
		}
	}
	return to
}

// stamp is a time as documents have it.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// moment is stamp; null for no time.
func moment(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return text(stamp(at))
}

// holds is who holds work, and since when, as documents have it.
func holds(h cursor.Holder, since time.Time) HolderSince {
	return HolderSince{Agent: h.Agent, Worker: h.Worker, Since: stamp(since)}
}
