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
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/sandbox"
	"github.com/spec-kitty/step-runner/host/tick"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// clockGrain is how far a record may be ahead of the clock unnoticed: clocks of
// machines and containers differ by that much.
const clockGrain = 2 * time.Second

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
			fix = e.p.repairLine(f.Run)
		}
		e.find(Finding{Level: LevelRepairable, Code: "index_entry", RunID: f.Run, Message: message, Fix: fix})
	}
	if !report.Complete && len(report.Faults) == 0 {
		e.find(Finding{Level: LevelRepairable, Code: "index_incomplete", Message: "the index of runs is not marked complete: runs are found by their folders, which is slower",
			Fix: "the next start, or the next commit on a run, makes it anew"})
	}
	for _, gone := range report.Gone {
		e.find(Finding{Level: LevelWarning, Code: commit.WarnRunMissing, RunID: gone.ID,
			Message: fmt.Sprintf("run %s of mission %s is in the index and has no folder: it was removed, or an older copy of the runs was put back", gone.ID, gone.Slug),
			Fix:     "put " + filepath.Join("runs", gone.ID) + " back; if it is gone for good, " + e.forgets(gone.Slug)})
	}
	if len(report.Private) > 0 {
		e.find(Finding{Level: LevelWarning, Code: "unfinished_start", Message: fmt.Sprintf("%d starts of runs are at work or died: %s", len(report.Private), strings.Join(report.Private, ", ")),
			Fix: "the next start removes those that died"})
	}
	return nil
}

// forgets is what makes a mission's run that is gone be forgotten.
func (e *examination) forgets(slug string) string {
	way := "`spec-kitty run start" + e.p.rootFlag() + " " + quote(slug) + " --again` forgets it"
	for _, h := range e.RunHealth {
		if h.MissionSlug == slug && !over(h.MissionState) {
			return way + ", once run " + h.RunID + " is over"
		}
	}
	return way
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
	for i, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		run := "" // the first one is the index's
		if i > 0 {
			run = filepath.Base(filepath.Dir(path))
		}
		if err == nil && !info.Mode().IsRegular() {
			e.badLock(run, &locks.BadLockError{Path: path, Mode: info.Mode()})
			continue
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
			e.find(Finding{Level: LevelWarning, Code: lockUnusable, RunID: run, Message: err.Error(), Fix: "mend the file's permissions; nothing can be recorded meanwhile"})
		}
		e.Locks = append(e.Locks, row)
	}
	return nil
}

// badLock notes what lies in a lock's place and is no file. No call that writes can
// go on, and none takes away what it did not put there.
func (e *examination) badLock(run string, bad *locks.BadLockError) {
	e.Locks = append(e.Locks, LockHealth{File: bad.Path})
	e.find(Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: run, Message: bad.Path + " is damaged: bad_lock: it is " + bad.Kind() + ", not a file",
		Fix: "remove it, the lock is made anew by the next call; until then nothing is recorded under it"})
}

// loops reads the journals of all loops.
func (e *examination) loops(ctx context.Context) error {
	loops := e.p.Loops(tick.Options{})
	names, err := loops.All(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := loops.Sound(ctx, name)
		if refusal := new(loop.Refusal); err == nil || errors.As(err, &refusal) {
			continue // sound, or not created, or just removed
		}
		f := Finding{Level: LevelDamage, Code: string(CodeStateDamaged), Message: "loop " + name + ": " + err.Error(), Fix: "spec-kitty help loops-recover"}
		if known := new(Error); errors.As(Classify(err), &known) {
			f.Code = string(known.Code)
		}
		e.find(f)
	}
	return ctx.Err()
}

// config notes the entries of the configuration that cannot be used.
func (e *examination) config() {
	for _, p := range e.p.Config.Faults {
		e.find(Finding{Level: LevelWarning, Code: string(CodeDefinitionInvalid), Message: p.String(),
			Fix: "mend it; until then what uses it is refused, and all else goes on"})
	}
}

func (e *examination) plugins() {
	sums := map[string]string{}
	for _, name := range e.p.Config.PluginNames() {
		c := e.p.Config.Plugins[name]
		row := PluginHealth{Name: name, File: e.p.Config.WasmPath(c), Pinned: strings.ToLower(c.SHA256)}
		wasm, err := readInside(e.p.Config, row.File)
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
		if own := folderOf(e.p.Config, c); own != nil && own.Problem != nil {
			e.find(Finding{Level: LevelWarning, Code: "plugin_unreadable", Message: "plugin " + name + ": the folder " + own.Folder + " cannot be shown to it: " + *own.Problem, Fix: "mend the folder, or plugins." + name + ".dir; runs that froze it go on"})
		} else if !own.fits() {
			e.find(Finding{Level: LevelWarning, Code: "plugin_pin", Message: "plugin " + name + ": the files of " + own.Folder + " are not those that the configuration pins",
				Fix: "if you trust them: `spec-kitty plugin pin " + name + "`; runs that froze it go on"})
		}
		sums[name] = row.Pinned
		e.Plugins = append(e.Plugins, row)
	}
	cache := e.p.plugins.CacheState(slices.Collect(maps.Values(sums)))
	e.Cache = CacheHealth{Folder: cache.Dir, Codes: cache.Codes, Bytes: cache.Bytes}
	e.engine()
	for i, row := range e.Plugins {
		e.Plugins[i].Cached = cache.Cached[row.Pinned]
	}
	if cache.Dir == "" && !cache.Unmade && len(e.Plugins) > 0 {
		e.find(Finding{Level: LevelWarning, Code: "no_cache", Message: "no folder for compiled plugins can be used: each call compiles or interprets",
			Fix: "let the user's cache folder be a folder of mode 0700 outside of the project"})
	}
}

func (e *examination) engine() {
	engine := sandbox.EngineHere()
	e.Engine = string(engine)
	if engine == sandbox.Interpreter && len(e.Plugins) > 0 {
		e.find(Finding{Level: LevelWarning, Code: "no_compiler", Message: "this machine, or this process, lets no program make code: plugins are interpreted, which takes ten times as long and more",
			Fix: "give slow plugins a longer timeout, or call from where PR_SET_MDWE and its like are not set"})
	}
}

// fileSystem looks at the state root, or what will hold it.
func (e *examination) fileSystem() {
	path := e.StateRoot
	if real := e.p.Config.StateLink; real != "" {
		e.find(Finding{Level: LevelWarning, Code: "state_linked", Message: path + " leads, by a link in the project, to " + real + ", where the state of the runs is kept",
			Fix: "if the link is not yours, take it away; if it is, nothing, or name the folder in [runtime] dir"})
	}
	path = existing(path)
	e.FileSystem = FileSystem{Kind: durable.Kind(path), Shared: durable.Shared(path) != ""}
	if e.FileSystem.Shared {
		e.find(Finding{Level: LevelWarning, Code: commit.WarnNetworkMount, Message: path + " lies on a " + e.FileSystem.Kind + " mount, where locks and syncs may not hold",
			Fix: "keep the state on a local disk: [runtime] dir"})
	}
}

func (e *examination) clock() {
	now := e.p.now()
	e.Clock.Now = stamp(now)
	if e.newest.IsZero() {
		return
	}
	e.Clock.Newest = stamp(e.newest)
	if ahead := e.newest.Sub(now); ahead > clockGrain {
		e.Clock.Behind = true
		e.find(Finding{Level: LevelWarning, Code: "clock_behind", Message: fmt.Sprintf("the newest record is %s ahead of the clock", ahead.Round(time.Second)),
			Fix: "set the clock; the order of records does not depend on it"})
	}
}
