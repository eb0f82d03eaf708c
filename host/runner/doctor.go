package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
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
}

// Counts is what a run's folder holds.
type Counts struct {
	Records   uint64 `json:"records"`
	Length    int64  `json:"length"` // bytes of good records
	Tail      int64  `json:"tail"`   // bytes after them, never acknowledged
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
	Codes  int    `json:"codes"`
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

// clockGrain is how far a record may be ahead of the clock unnoticed: clocks of
// machines and containers differ by that much.
const clockGrain = 2 * time.Second

// examination is a Diagnosis in the making.
type examination struct {
	*Diagnosis
	p      *Project
	keeper commit.Keeper
	newest time.Time
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
	for _, look := range []func(context.Context) error{e.runs, e.index, e.locks} {
		if err := look(ctx); err != nil {
			return d, classify(err)
		}
	}
	e.plugins()
	e.fileSystem()
	e.clock()
	return d, nil
}

func (e *examination) find(f Finding) {
	e.Findings = append(e.Findings, f)
	e.Healthy = e.Healthy && f.Level != LevelDamage
}

func (e *examination) runs(ctx context.Context) error {
	entries, err := e.p.runs.List(ctx)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		h := RunHealth{RunID: entry.ID, MissionSlug: entry.Slug, MissionState: "damaged", Counts: Counts{View: commit.ViewMissing}, Problems: []string{}}
		if err := e.run(ctx, &h); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e.unreadable(&h, err)
		}
		e.RunHealth = append(e.RunHealth, h)
	}
	return nil
}

// unreadable is a run that the system does not let us read, or a thing among the
// runs that is none. The others are looked at all the same.
func (e *examination) unreadable(h *RunHealth, err error) {
	h.Damaged, h.Problems = true, append(h.Problems, err.Error())
	e.find(Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: h.RunID, Message: err.Error(),
		Fix: "look at the permissions of " + filepath.Join("runs", h.RunID) + ", or move it away if it is no run"})
}

// run reads one whole run.
func (e *examination) run(ctx context.Context, h *RunHealth) error {
	store, err := e.p.runs.Open(ctx, h.RunID)
	if err != nil {
		return err
	}
	defer store.Close()
	if snap, err := store.Read(ctx); err == nil {
		r := reading{state: snap.State}
		h.MissionState = r.missionState()
	}
	report, err := store.Verify(ctx)
	if err != nil {
		return err
	}
	h.Counts = Counts{Records: report.Records, Length: report.Length, Tail: report.Tail, View: report.View}
	for _, problem := range report.Problems {
		e.problem(h, problem)
	}
	if len(report.Problems) == 0 {
		e.frozen(ctx, h, store)
		e.newestOf(ctx, store, report.Records)
	}
	if err := e.leftovers(h, store); err != nil {
		return err
	}
	e.views(*h)
	return nil
}

// problem notes what is wrong with the journal, or with the state beside it.
func (e *examination) problem(h *RunHealth, problem error) {
	h.Problems = append(h.Problems, problem.Error())
	f := Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: h.RunID, Message: problem.Error()}
	switch known := fromCommit(problem); {
	case known == nil:
	case known.Code == CodeNewerFormat:
		h.Newer = true
		f.Code, f.Fix = string(known.Code), known.NextStep+"; what this version does not know is kept"
		e.find(f)
		return
	default:
		f.Code = string(known.Code)
	}
	h.Damaged = true
	f.Fix = fmt.Sprintf("it is not repaired, since that would drop what was acknowledged: %d records in front of it are whole, `spec-kitty run log` shows them. "+
		"Copy the folder, then restore %s from a backup, or find what wrote to it", h.Counts.Records, filepath.Join("runs", h.RunID))
	e.find(f)
}

// frozen notes what is wrong with the frozen files. The index of the definition
// is a view; all others are not.
func (e *examination) frozen(ctx context.Context, h *RunHealth, store Store) {
	for _, problem := range frozenProblems(ctx, store) {
		h.Problems = append(h.Problems, problem)
		f := Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: h.RunID, Message: problem,
			Fix: "restore the file from a backup of the run; the run goes on with exactly what it froze"}
		if strings.HasPrefix(problem, blobIndex+" ") {
			f.Level, f.Code, f.Fix = LevelRepairable, "definition_index", repairLine(h.RunID)
		} else {
			h.Damaged = true
		}
		e.find(f)
	}
}

func repairLine(run string) string { return "spec-kitty doctor --repair " + run }

// newestOf keeps the time of the last record.
func (e *examination) newestOf(ctx context.Context, store Store, last uint64) {
	_ = store.Records(ctx, last, func(rec commit.Record[cursor.Event]) error { // it was read a moment ago
		if rec.At.After(e.newest) {
			e.newest = rec.At
		}
		return nil
	})
}

func (e *examination) leftovers(h *RunHealth, store Store) error {
	m, ok := store.(commit.Mender)
	if !ok {
		return nil
	}
	left, err := m.Leftovers()
	h.Counts.Leftovers = len(left)
	return err
}

// views notes what the next writer would make anew.
func (e *examination) views(h RunHealth) {
	if h.Damaged || h.Newer {
		return
	}
	note := func(code, message string) {
		e.find(Finding{Level: LevelRepairable, Code: code, RunID: h.RunID, Message: message, Fix: repairLine(h.RunID)})
	}
	if h.Counts.View != commit.ViewCurrent {
		note("view_"+h.Counts.View, "state.json is "+h.Counts.View+": the journal is read instead, and the next writer makes it anew")
	}
	if h.Counts.Tail > 0 {
		note("torn_tail", fmt.Sprintf("%d bytes at the journal's end were never acknowledged: the next writer cuts them", h.Counts.Tail))
	}
	if h.Counts.Leftovers > 0 {
		note("leftovers", fmt.Sprintf("%d temporary files of writers that died, or are at work", h.Counts.Leftovers))
	}
}

func (e *examination) index(ctx context.Context) error {
	report, err := e.keeper.Index(ctx)
	if err != nil {
		return err
	}
	e.Index.Complete, e.Index.Entries, e.Index.Runs = report.Complete, report.Entries, report.Runs
	for _, f := range report.Faults {
		message := fmt.Sprintf("the index names %s for mission %s, the run folders say %s", orNone(f.Have), f.Slug, orNone(f.Run))
		e.Index.Problems = append(e.Index.Problems, message)
		fix := "the next start of a run makes it anew"
		if f.Run != "" {
			fix = repairLine(f.Run)
		}
		e.find(Finding{Level: LevelRepairable, Code: "index_entry", RunID: f.Run, Message: message, Fix: fix})
	}
	if !report.Complete && len(report.Faults) == 0 {
		e.find(Finding{Level: LevelRepairable, Code: "index_incomplete", Message: "the index of runs is not marked complete: runs are found by their folders, which is slower",
			Fix: "the next start, or the next commit on a run, makes it anew"})
	}
	if len(report.Private) > 0 {
		e.find(Finding{Level: LevelWarning, Code: "unfinished_start", Message: fmt.Sprintf("%d starts of runs are at work or died: %s", len(report.Private), strings.Join(report.Private, ", ")),
			Fix: "the next start removes those that died"})
	}
	return nil
}

func orNone(run string) string {
	if run == "" {
		return "no run"
	}
	return run
}

// locks tries each lock file without waiting, and makes none.
func (e *examination) locks(ctx context.Context) error {
	paths, err := e.keeper.LockFiles()
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file", path)
		}
		row := LockHealth{File: path}
		if err == nil {
			err = locks.At(path).Do(ctx, 0, func(*locks.Held) error { return nil })
		}
		busy := new(locks.TimeoutError)
		switch {
		case errors.As(err, &busy):
			row.Held = true
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			e.find(Finding{Level: LevelWarning, Code: "lock_unusable", Message: err.Error(), Fix: "mend the file's kind or permissions; nothing can be recorded meanwhile"})
		}
		e.Locks = append(e.Locks, row)
	}
	return nil
}

func (e *examination) plugins() {
	sums := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(e.p.Config.Plugins)) {
		c := e.p.Config.Plugins[name]
		row := PluginHealth{Name: name, File: e.p.Config.WasmPath(c), Pinned: strings.ToLower(c.SHA256)}
		wasm, err := os.ReadFile(row.File)
		if err == nil {
			row.Found = hexSum(wasm)
		}
		switch {
		case err != nil:
			e.find(Finding{Level: LevelWarning, Code: "plugin_unreadable", Message: err.Error(), Fix: "build it, or mend plugins." + name + ".wasm; runs that froze it go on"})
		case row.Found != row.Pinned:
			e.find(Finding{Level: LevelWarning, Code: "plugin_pin", Message: fmt.Sprintf("plugin %s: the file has %s, the configuration pins %s", name, row.Found, row.Pinned),
				Fix: "if you trust these bytes, set plugins." + name + ".sha256 to " + row.Found + "; runs that froze it go on"})
		}
		sums[name] = row.Pinned
		e.Plugins = append(e.Plugins, row)
	}
	cache := e.p.plugins.CacheState(slices.Collect(maps.Values(sums)))
	e.Cache = CacheHealth{Folder: cache.Dir, Codes: cache.Codes}
	for i, row := range e.Plugins {
		e.Plugins[i].Cached = cache.Cached[row.Pinned]
	}
	if cache.Dir == "" && !cache.Unmade && len(e.Plugins) > 0 {
		e.find(Finding{Level: LevelWarning, Code: "no_cache", Message: "no folder for compiled plugins can be used: each call compiles or interprets",
			Fix: "let the user's cache folder be a folder of mode 0700 outside of the project"})
	}
}

// fileSystem looks at the state root, or what will hold it.
func (e *examination) fileSystem() {
	path := e.StateRoot
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			break
		}
		path = filepath.Dir(path)
	}
	e.FileSystem = FileSystem{Kind: durable.Kind(path), Shared: durable.Shared(path) != ""}
	if e.FileSystem.Shared {
		e.find(Finding{Level: LevelWarning, Code: commit.WarnNetworkMount, Message: path + " lies on a " + e.FileSystem.Kind + " mount, where locks and syncs may not hold",
			Fix: "keep the state on a local disk: [runtime] dir"})
	}
}

func (e *examination) clock() {
	now := e.p.now()
	e.Clock.Now = now.UTC().Format(time.RFC3339Nano)
	if e.newest.IsZero() {
		return
	}
	e.Clock.Newest = e.newest.UTC().Format(time.RFC3339Nano)
	if ahead := e.newest.Sub(now); ahead > clockGrain {
		e.Clock.Behind = true
		e.find(Finding{Level: LevelWarning, Code: "clock_behind", Message: fmt.Sprintf("the newest record is %s ahead of the clock", ahead.Round(time.Second)),
			Fix: "set the clock; the order of records does not depend on it"})
	}
}
