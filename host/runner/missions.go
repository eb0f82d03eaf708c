package runner

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// MissionList is what a project defines, and what is in its folder of missions.
type MissionList struct {
	Schema   int          `json:"schema"`
	Types    []TypeRow    `json:"types"`
	Missions []MissionRow `json:"missions"`
}

// TypeRow is one mission type. One that is not valid has an Error and is never
// left out.
type TypeRow struct {
	Type    string `json:"mission_type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Steps   int    `json:"steps"`
	Path    string `json:"path"` // absolute; of the configuration for an inline one
	Valid   bool   `json:"valid"`
	Error   string `json:"error"`
}

// MissionRow is one mission, as its folder and its latest run have it. One that
// cannot be read, or not be taken forward, has an Error.
type MissionRow struct {
	MissionSlug   string  `json:"mission_slug"`
	MissionNumber string  `json:"mission_number"`
	MissionType   string  `json:"mission_type"`
	RunID         *string `json:"run_id"` // null: no run
	MissionState  string  `json:"mission_state"`
	Error         string  `json:"error"`
}

// Missions lists the mission types that are defined, and the missions in the
// project's folder with the state of their latest run. It writes nothing.
func (p *Project) Missions(ctx context.Context) (MissionList, error) {
	list := MissionList{Schema: Schema, Types: []TypeRow{}, Missions: []MissionRow{}}
	for _, name := range p.Config.MissionTypes() {
		list.Types = append(list.Types, p.typeRow(name))
	}
	all, unreadable, err := lanes.List(p.Config.SpecsDir())
	if err != nil {
		return MissionList{}, classify(err)
	}
	for _, m := range all {
		row, err := p.missionRow(ctx, m)
		if err != nil {
			return MissionList{}, classify(err)
		}
		list.Missions = append(list.Missions, row)
	}
	for _, err := range unreadable {
		list.Missions = append(list.Missions, brokenRow(err))
	}
	return list, nil
}

func (p *Project) typeRow(name string) TypeRow {
	row := TypeRow{Type: name}
	row.Path, _ = p.Config.DefinitionFile(name) // it is one of the types
	def, _, err := config.LoadMission(p.Config, name)
	if err != nil {
		row.Error = err.Error()
		return row
	}
	row.Name, row.Version, row.Steps, row.Valid = def.Name, def.Version, len(def.Steps), true
	return row
}

// missionRow reads the latest run of a mission and closes it again: a project
// may have thousands. The error is the context's alone.
func (p *Project) missionRow(ctx context.Context, m lanes.Mission) (MissionRow, error) {
	row := MissionRow{MissionSlug: m.Slug, MissionNumber: m.Number, MissionType: m.Type, MissionState: "not_started"}
	err := p.fillMission(ctx, m, &row)
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	if err != nil {
		row.Error = err.Error()
	}
	return row, nil
}

func (p *Project) fillMission(ctx context.Context, m lanes.Mission, row *MissionRow) error {
	store, err := p.runs.Lookup(ctx, m.Slug)
	if errors.Is(err, commit.ErrNoRun) {
		return p.fillType(m, row)
	}
	row.MissionState = "damaged" // unless it can be read
	if err != nil {
		return err
	}
	defer store.Close()
	row.RunID = text(store.ID())
	snap, err := store.Read(ctx)
	if err != nil {
		return err
	}
	r := reading{state: snap.State}
	row.MissionType, row.MissionState = snap.State.Type, r.missionState()
	return m.CheckTopology(p.Config.Root)
}

// fillType says what would keep a run of the mission from being started.
func (p *Project) fillType(m lanes.Mission, row *MissionRow) error {
	missionType, err := p.typeOf(m)
	if err != nil {
		return err
	}
	row.MissionType = missionType
	if _, err := p.Config.DefinitionFile(missionType); err != nil {
		return err
	}
	return m.CheckTopology(p.Config.Root)
}

func brokenRow(err error) MissionRow {
	row := MissionRow{MissionState: "damaged", Error: err.Error()}
	var file *lanes.FileError
	if errors.As(err, &file) {
		row.MissionSlug = filepath.Base(filepath.Dir(file.Path))
	}
	return row
}
