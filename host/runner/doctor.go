package runner

import (
	"context"
	"errors"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
)

// Diagnosis is how everything around the runs stands.
type Diagnosis struct {
	Schema     int            `json:"schema"`
	Healthy    bool           `json:"healthy"` // no run is damaged or of a newer version
	Root       string         `json:"root"`
	StateRoot  string         `json:"state_root"`
	Findings   []Finding      `json:"findings"`
	RunHealth  []RunHealth    `json:"run_health"`
	Index      IndexHealth    `json:"index"`
	Plugins    []PluginHealth `json:"plugins"`
	Engine     string         `json:"engine"` // that plugins run in: compiler or interpreter
	Cache      CacheHealth    `json:"cache"`
	Locks      []LockHealth   `json:"locks"`
	FileSystem FileSystem     `json:"file_system"`
	Clock      ClockHealth    `json:"clock"`
	Repair     *Repair        `json:"repair"` // null: nothing was to be repaired
}

// Finding is something that is not as it should be.
type Finding struct {
	Level   string `json:"level"`
	Code    string `json:"code"`
	RunID   string `json:"run_id"` // the folder's name; "": it is about no run
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// The levels of findings.
const (
	LevelDamage     = "damage"     // a run cannot go on; nothing mends it by itself
	LevelRepairable = "repairable" // a view is not what it is a view of: --repair, or the next writer, makes it
	LevelWarning    = "warning"    // to know
)

// RunHealth is one run, whole or not.
type RunHealth struct {
	RunID        string   `json:"run_id"`
	MissionSlug  string   `json:"mission_slug"`
	MissionState string   `json:"mission_state"` // "damaged" for one that cannot be read
	Damaged      bool     `json:"damaged"`
	Newer        bool     `json:"newer"` // it has events or a format that this version does not know; they are kept
	Counts       Counts   `json:"counts"`
	Problems     []string `json:"problems"`

	wrongView bool // the state file says something else than the journal, and is told
}

// Counts is what a run's folder holds.
type Counts struct {
	Records   uint64 `json:"records"`
	Length    int64  `json:"length"` // bytes of good records
	Tail      int64  `json:"tail"`   // bytes after them; never acknowledged where the run is not damaged
	View      string `json:"view"`
	Leftovers int    `json:"leftovers"` // temporary files
}

// IndexHealth is the index of runs.
type IndexHealth struct {
	Complete bool     `json:"complete"`
	Entries  int      `json:"entries"`
	Runs     int      `json:"runs"`
	Problems []string `json:"problems"`
}

// PluginHealth is one plugin of the configuration.
type PluginHealth struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Pinned string `json:"pinned"`
	Found  string `json:"found"` // "" where the file cannot be read
	Cached bool   `json:"cached"`
}

// CacheHealth is the compilation cache of plugins.
type CacheHealth struct {
	Folder string `json:"folder"` // "": there is none, or none that can be used
	Codes  int    `json:"codes"`  // modules that this version has code of
	Bytes  int64  `json:"bytes"`  // of that code
}

// LockHealth is one lock file. Its age and content mean nothing.
type LockHealth struct {
	File string `json:"file"`
	Held bool   `json:"held"` // by a process that lives
}

// FileSystem is what the state lies on.
type FileSystem struct {
	Kind   string `json:"kind"`   // "" where the system does not say
	Shared bool   `json:"shared"` // locks and syncs may not hold there
}

// ClockHealth is the clock, held against the records.
type ClockHealth struct {
	Now    string `json:"now"`
	Newest string `json:"newest"` // time of the newest record; "" without runs
	Behind bool   `json:"behind"` // the newest record is of the future
}

// examination is a Diagnosis in the making.
type examination struct {
	*Diagnosis
	p      *Project
	keeper commit.Keeper
	newest time.Time

	readOnly   bool  // the state lies on a file system that nothing can be written to
	specsFault error // why the folder of the missions cannot be looked through
}

// Doctor looks at all runs and at what is around them. It changes nothing; the
// lock files are tried for a moment, to see who holds them.
func (p *Project) Doctor(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{
		Schema: Schema, Healthy: true, Root: p.Config.Root, StateRoot: p.Config.StateRoot(),
		Findings: []Finding{}, RunHealth: []RunHealth{}, Plugins: []PluginHealth{}, Locks: []LockHealth{},
		Index: IndexHealth{Problems: []string{}},
	}
	keeper, ok := p.runs.(commit.Keeper)
	if !ok {
		return d, classify(errors.New("this store cannot be looked after"))
	}
	e := &examination{Diagnosis: &d, p: p, keeper: keeper}
	for _, part := range []struct {
		name string
		look func(context.Context) error
	}{{"the places that are written to", e.places}, {"the runs", e.runs}, {"the index of runs", e.index}, {"the locks", e.locks}, {"the loops", e.loops}} {
		if err := part.look(ctx); err != nil {
			if ctx.Err() != nil {
				return d, ctx.Err()
			}
			e.unseen(part.name, err)
		}
	}
	e.config()
	e.plugins()
	e.fileSystem()
	e.clock()
	return d, nil
}

func (e *examination) find(f Finding) {
	e.Findings = append(e.Findings, f)
	e.Healthy = e.Healthy && f.Level != LevelDamage
}

// unseen notes a part that could not be looked at whole. The others are, all the same.
func (e *examination) unseen(part string, err error) {
	f := Finding{Level: LevelDamage, Code: string(CodeNotRecorded), Message: part + " could not be looked at: " + err.Error(),
		Fix: "look at the place and the permissions of what is named, then call again"}
	if known := new(Error); errors.As(classify(err), &known) {
		f.Code, f.Fix = string(known.Code), known.Next()
	}
	e.find(f)
}
