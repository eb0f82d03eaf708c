package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// WarnNothingChanged is the warning of a migration that has nothing to do.
const WarnNothingChanged = "nothing_changed"

// MigrateRequest asks for a run to go on by the definition, and with the plugins
// and their grants, as they stand in the project.
type MigrateRequest struct {
	Mission string
	Actor   string // who does it, for the record
	Human   string // the person who says so by name; "": nobody did
	Reason  string
	DryRun  bool // only say what it would do
}

// Migration is what a migration changes.
type Migration struct {
	Schema      int            `json:"schema"`
	MissionSlug string         `json:"mission_slug"`
	RunID       string         `json:"run_id"`
	Applied     bool           `json:"applied"`       // false: a dry run, or nothing was to change
	From        string         `json:"migrated_from"` // digests of the definitions
	To          string         `json:"migrated_to"`
	StepID      string         `json:"step_id"` // current afterwards; "" where nothing is left to do
	Added       []string       `json:"added"`
	Removed     []string       `json:"removed"`
	Moved       []string       `json:"moved"` // their place among the steps that stay is another
	Changed     []StepChange   `json:"changed"`
	Plugins     []PluginChange `json:"plugins_changed"`
	Commands    bool           `json:"commands_changed"` // what may be run or written is other: it may need consent anew
	Reissued    []IssueRow     `json:"reissued"`         // handed out anew, with new tokens: their steps read otherwise
	Recover     []string       `json:"recover"`
	Warnings    []Warning      `json:"warnings"`
}

// StepChange names the keys of a step that read otherwise.
type StepChange struct {
	StepID string   `json:"step_id"`
	Keys   []string `json:"keys"`
}

// PluginChange is a plugin with other bytes or other grants. A null pin is a
// plugin that the definition does not name.
type PluginChange struct {
	Plugin string  `json:"plugin"`
	From   *string `json:"from_sha256"`
	To     *string `json:"to_sha256"`
	Grants bool    `json:"grants_changed"`
}

// Migrate has a mission's latest run go on by the project's present definition.
// It hands out nothing new, and is refused where a completed step or one that is
// handed out would be lost. What the result says is durable when it is Applied.
// A refusal is the Answer; without one it is nil.
func (p *Project) Migrate(ctx context.Context, q MigrateRequest) (Migration, *Answer, error) {
	if err := checkText("the reason", q.Reason); err != nil {
		return Migration{}, nil, err
	}
	r, err := p.read(ctx, q.Mission)
	if err == nil && r.run == nil {
		err = commit.ErrNoRun
	}
	if err != nil {
		return Migration{}, nil, classify(err)
	}
	p.hook(PointRead)
	done, err := r.migrate(ctx, q)
	if err != nil {
		a, err := r.refused(Caller{}, err)
		return Migration{}, &a, classify(err)
	}
	return done, nil, nil
}

// migrate freezes what the run is to go by, then commits. The frozen files are
// durable before the record that names them: a crash in between leaves files
// that no record names, which the same migration finds as it wants them. They
// are named by their content, so two migrations at once do not meet in them.
// What can be refused is refused before anything is written; the one that is
// refused under the lock, because the run was changed meanwhile, leaves such
// files too.
func (r *reading) migrate(ctx context.Context, q MigrateRequest) (Migration, error) {
	def, frozen, err := config.LoadMission(r.p.Config, r.state.Type)
	if err != nil {
		return Migration{}, err
	}
	blobs, pins, err := r.p.freeze(ctx, def, frozen)
	if err != nil {
		return Migration{}, err
	}
	commands := r.p.freezeCommands(def, blobs)
	index, err := mission.OpenIndex(bytes.NewReader(frozen.Index), int64(len(frozen.Index)))
	if err != nil {
		return Migration{}, err
	}
	t := cursor.Migrate{
		Who: q.Actor, Human: q.Human, Reason: q.Reason, From: r.state.Definition, Definition: frozen.Digest, Index: frozen.IndexDigest,
		Plugins: pins, Grants: hexSum(blobs[blobPlugins]), Commands: commands, Def: remembered(index), Tokens: r.p.tokens(),
	}
	made, err := r.foretell(t)
	if err != nil {
		return Migration{}, err
	}
	done, err := r.effects(t, def, made, blobs[blobPlugins])
	if err == nil && len(made.events) > 0 && !q.DryRun {
		err = r.goOver(ctx, t, blobs)
		done.Applied = err == nil
	}
	if err != nil {
		return Migration{}, err
	}
	if done.Applied {
		r.writePrompts()
		r.settleDrift(frozen)
	}
	done.Warnings = append(done.Warnings, r.warnings...)
	return done, nil
}

func (r *reading) goOver(ctx context.Context, t cursor.Migrate, blobs map[string][]byte) error {
	names := migratedNames(t.Definition, t.Grants)
	for _, file := range [][2]string{{blobDefinition, names.definition}, {blobIndex, names.index}, {blobPlugins, names.plugins}} {
		blobs[file[1]] = blobs[file[0]]
		delete(blobs, file[0])
	}
	for _, name := range sortedKeys(blobs) {
		// Also one that is there already: whoever made it may have died, or failed,
		// before its name was durable, and the record will speak of it.
		if err := r.run.store.PutBlob(name, blobs[name]); err != nil {
			return err
		}
	}
	r.p.hook(PointPlanned)
	r.warnings = slices.DeleteFunc(r.warnings, isDrift)
	return r.commit(ctx, t)
}

// effects lists what changes. Work that is handed out anew is shown with its old
// token, which its holder knows it by.
func (r *reading) effects(t cursor.Migrate, def *mission.Definition, made plan, grants []byte) (Migration, error) {
	done := Migration{Schema: Schema, MissionSlug: r.mission.Slug, RunID: r.state.Run, From: t.From, To: t.Definition,
		StepID: made.state.Cursor.Step, Commands: t.Commands != r.state.Commands, Changed: []StepChange{}, Plugins: []PluginChange{}, Reissued: []IssueRow{},
		Recover: []string{r.nextLine(Caller{})}, Warnings: []Warning{}}
	old, err := r.run.definition(namesOf(r.state), r.state.Definition)
	if err != nil {
		return done, err
	}
	d, err := mission.Compare(old, def)
	if err != nil {
		return done, err
	}
	done.Added, done.Removed, done.Moved = listed(d.Added), listed(d.Removed), listed(d.Moved)
	for _, c := range d.Changed {
		done.Changed = append(done.Changed, StepChange{StepID: c.Step, Keys: c.Parts})
	}
	for _, row := range r.issueRows() {
		if _, kept := made.state.Issue(row.Token); !kept {
			done.Reissued = append(done.Reissued, row)
		}
	}
	if len(made.events) == 0 {
		done.Warnings = append(done.Warnings, Warning{Code: WarnNothingChanged, Message: "the run goes by this definition and these plugins already"})
	}
	done.Plugins, err = r.pluginChanges(grants)
	return done, err
}

// pluginChanges compares what the run froze of plugins with what it would.
func (r *reading) pluginChanges(grants []byte) ([]PluginChange, error) {
	changes := []PluginChange{}
	before, err := r.run.frozenGrants(r.state)
	if err != nil {
		return changes, err
	}
	var after map[string]frozenPlugin
	if err := json.Unmarshal(grants, &after); err != nil {
		return changes, err
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range sortedKeys(names) {
		was, is := before[name], after[name]
		c := PluginChange{Plugin: name, From: text(was.SHA256), To: text(is.SHA256)}
		repinned := was.SHA256 != is.SHA256
		was.SHA256, is.SHA256 = "", ""
		if c.Grants = !alike(was, is); repinned || c.Grants {
			changes = append(changes, c)
		}
	}
	return changes, nil
}
