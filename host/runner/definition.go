package runner

import (
	"context"
	"errors"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Which names a definition: a mission type, a mission, or, with neither, the
// only type that is defined.
type Which struct {
	Type    string
	Mission string // a handle
}

// Definition is a mission type, step by step.
type Definition struct {
	Schema      int     `json:"schema"`
	MissionType string  `json:"mission_type"`
	MissionSlug *string `json:"mission_slug"` // null: a type was asked for
	RunID       *string `json:"run_id"`       // the run that it is frozen in; null: as it stands in the project
	Path        string  `json:"path"`         // absolute; of the file that defines the type
	Digest      string  `json:"digest"`
	Definition  Detail  `json:"definition"`
}

// Detail is what a definition says.
type Detail struct {
	Name    string       `json:"name"`
	Version string       `json:"version"`
	Steps   []StepDetail `json:"steps"`
}

// StepDetail is one step or audit, in the order in which they are chosen.
type StepDetail struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Action      string          `json:"action"`
	Profile     string          `json:"profile"`
	Metadata    map[string]any  `json:"metadata"`
	DependsOn   []string        `json:"depends_on"` // also where the file's order says so
	Prompt      *PromptDetail   `json:"prompt"`     // null: title, description and report line
	Inputs      []InputDetail   `json:"inputs"`
	Guards      []GuardDetail   `json:"guards"`
	Executor    *ExecutorDetail `json:"executor"`
	Retry       int             `json:"retry"`
	Packages    *PackageDetail  `json:"work_packages"`
	Audit       *AuditDetail    `json:"audit"`
}

// PromptDetail is where a prompt comes from.
type PromptDetail struct {
	Path     string `json:"path"` // below the project root; "": it stands in the definition
	Bytes    int    `json:"bytes"`
	Template bool   `json:"template"`
}

// InputDetail is a value that a step needs.
type InputDetail struct {
	Key      string   `json:"key"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Default  *string  `json:"default"`
}

// GuardDetail is one guard: its kind, what it is about, and its other keys.
type GuardDetail struct {
	Kind     string         `json:"kind"` // artifact, plugin, input, work_packages, command or event
	Name     string         `json:"name"` // the path, plugin, key, package, command or type of event
	Settings map[string]any `json:"settings"`
	Message  string         `json:"message"`
}

// ExecutorDetail is a step's executor.
type ExecutorDetail struct {
	Plugin string         `json:"plugin"`
	With   map[string]any `json:"with"`
	Auto   bool           `json:"auto"`
}

// PackageDetail is how a step works on packages.
type PackageDetail struct {
	Take       []mission.Lane `json:"take"`
	Claim      mission.Lane   `json:"claim"`
	Success    mission.Lane   `json:"success"`
	Failed     mission.Lane   `json:"failed"`
	Until      []mission.Lane `json:"until"`
	Also       []string       `json:"also"`
	AllowNone  bool           `json:"allow_none"`
	SelfReview bool           `json:"self_review"`
}

// AuditDetail makes a step an audit.
type AuditDetail struct {
	Enforcement string `json:"enforcement"`
	Question    string `json:"question"`
	OnReject    string `json:"on_reject"`
}

// Definition shows a definition: for a mission with a run, the one that the run
// froze. It writes nothing.
func (p *Project) Definition(ctx context.Context, which Which) (Definition, error) {
	shown, def, err := p.find(ctx, which)
	if err != nil {
		return Definition{}, classify(err)
	}
	deps, err := def.Dependencies()
	if err != nil {
		return Definition{}, classify(err)
	}
	shown.Definition = Detail{Name: def.Name, Version: def.Version, Steps: make([]StepDetail, 0, len(def.Steps))}
	for pos, step := range def.Steps {
		detail := detailOf(step)
		for _, dep := range deps[pos] {
			detail.DependsOn = append(detail.DependsOn, def.Steps[dep].ID)
		}
		shown.Definition.Steps = append(shown.Definition.Steps, detail)
	}
	return shown, nil
}

// find reads the definition that is meant, and says where it comes from.
func (p *Project) find(ctx context.Context, which Which) (Definition, *mission.Definition, error) {
	shown := Definition{Schema: Schema, MissionType: which.Type}
	var err error
	switch {
	case which.Mission != "":
		def, err := p.ofMission(ctx, which.Mission, &shown)
		if def != nil || err != nil {
			return shown, def, err
		}
	case which.Type == "":
		if shown.MissionType, err = p.Config.OnlyType(); err != nil {
			return shown, nil, err
		}
	}
	def, frozen, err := config.LoadMission(p.Config, shown.MissionType)
	if err != nil {
		return shown, nil, err
	}
	shown.Digest = frozen.Digest
	shown.Path, err = p.Config.DefinitionFile(shown.MissionType)
	return shown, def, err
}

// ofMission reads the definition that a mission's run froze. Without a run there
// is none, and the mission's type is the one to look at.
func (p *Project) ofMission(ctx context.Context, handle string, shown *Definition) (*mission.Definition, error) {
	m, err := p.mission(ctx, handle)
	if err != nil {
		return nil, err
	}
	shown.MissionSlug = text(m.Slug)
	run, err := p.lookup(ctx, m)
	if errors.Is(err, commit.ErrNoRun) {
		shown.MissionType, err = p.typeOf(m)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	snap, err := run.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	def, err := run.definition(namesOf(snap.State), snap.State.Definition)
	if err != nil {
		return nil, err
	}
	shown.RunID, shown.MissionType, shown.Digest = text(snap.State.Run), snap.State.Type, snap.State.Definition
	shown.Path, _ = p.Config.DefinitionFile(snap.State.Type) // "": the project has it no more
	return def, nil
}

func detailOf(step mission.Step) StepDetail {
	d := StepDetail{
		ID: step.ID, Title: step.Title, Description: step.Description, Action: step.Action, Profile: step.Profile,
		Metadata: orEmpty(step.Metadata), DependsOn: []string{}, Inputs: []InputDetail{}, Guards: []GuardDetail{}, Retry: step.Retry,
	}
	if prompt := step.Prompt; prompt != nil {
		d.Prompt = &PromptDetail{Path: prompt.Path, Bytes: len(prompt.Text), Template: !prompt.Literal}
	}
	for _, in := range step.Inputs {
		d.Inputs = append(d.Inputs, InputDetail{Key: in.Key, Question: in.Question, Options: listed(in.Options), Default: in.Default})
	}
	for _, g := range step.Guards {
		d.Guards = append(d.Guards, guardDetail(g))
	}
	if e := step.Executor; e != nil {
		d.Executor = &ExecutorDetail{Plugin: e.Plugin, With: orEmpty(e.With), Auto: e.Auto}
	}
	if r := step.Packages; r != nil {
		d.Packages = &PackageDetail{Take: r.Take, Claim: r.Claim, Success: r.Success, Failed: r.Failed, Until: r.Until,
			Also: listed(r.Also), AllowNone: r.AllowNone, SelfReview: r.SelfReview}
	}
	if a := step.Audit; a != nil {
		d.Audit = &AuditDetail{Enforcement: string(a.Enforcement), Question: a.Question, OnReject: a.OnReject}
	}
	return d
}

func guardDetail(g mission.Guard) GuardDetail {
	d := GuardDetail{Settings: map[string]any{}, Message: g.Message}
	switch {
	case g.Artifact != nil:
		d.Kind, d.Name = "artifact", g.Artifact.Path
		d.Settings["min_bytes"], d.Settings["min_count"] = max(1, g.Artifact.MinBytes), max(1, g.Artifact.MinCount)
		for key, value := range map[string]string{"contains": g.Artifact.Contains, "not_contains": g.Artifact.NotContains} {
			if value != "" {
				d.Settings[key] = value
			}
		}
	case g.Plugin != nil:
		d.Kind, d.Name = "plugin", g.Plugin.Plugin
		if len(g.Plugin.With) > 0 {
			d.Settings["with"] = g.Plugin.With
		}
	case g.WorkPackages != nil:
		d.Kind, d.Name = "work_packages", g.WorkPackages.Package
		d.Settings["lanes"] = g.WorkPackages.Lanes
	case g.Command != "":
		d.Kind, d.Name = "command", g.Command
	case g.Event != nil:
		d.Kind, d.Name = "event", g.Event.Type
		d.Settings["min"] = max(1, g.Event.Min)
	default:
		d.Kind, d.Name = "input", g.Input
	}
	return d
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// listed is never null in JSON.
func listed(items []string) []string { return append([]string{}, items...) }
