package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

func (e *examination) runs(ctx context.Context) error {
	entries, err := e.p.runs.List(ctx)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		h := RunHealth{RunID: entry.ID, MissionSlug: entry.Slug, MissionState: damagedState, Counts: Counts{View: commit.ViewMissing}, Problems: []string{}}
		if err := e.run(ctx, &h); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e.unreadable(&h, err)
		}
		e.RunHealth = append(e.RunHealth, h)
	}
	e.live()
	return nil
}

// live notes each run that is not over and that a later one of its mission hides, as
// after a folder was put back from a copy.
func (e *examination) live() {
	last := map[string]RunHealth{}  // of those that are not over, by mission
	for _, h := range e.RunHealth { // oldest first
		if h.Damaged || h.MissionState == damagedState || over(h.MissionState) {
			continue
		}
		if older, two := last[h.MissionSlug]; two {
			e.find(Finding{Level: LevelWarning, Code: warnTwoLive, RunID: older.RunID,
				Message: fmt.Sprintf("mission %s has two runs that are not over, %s and the later %s, which alone is gone on with: a folder was put back, or two state folders were joined", h.MissionSlug, older.RunID, h.RunID),
				Fix: fmt.Sprintf("end the older one: `spec-kitty run abort%s %s --reason TEXT`; or go on with it: `spec-kitty run export%s %s --out FILE`, then move %s away",
					e.p.rootFlag(), older.RunID, e.p.rootFlag(), h.RunID, filepath.Join("runs", h.RunID))})
		}
		last[h.MissionSlug] = h
	}
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
		e.unpublished(*h, snap.State.Unpublished)
		e.meta(*h, snap.Subject)
		e.lanes(*h, snap.State, store)
	}
	report, err := store.Verify(ctx)
	if err != nil {
		return err
	}
	h.Counts = Counts{Records: report.Records, Length: report.Length, Tail: report.Tail, View: report.View}
	for _, problem := range report.Problems {
		e.problem(h, problem)
	}
	if !h.Damaged && !h.Newer {
		e.frozen(ctx, h, store)
		e.newestOf(ctx, store, report.Records)
	}
	if err := e.leftovers(h, store); err != nil {
		return err
	}
	if err := e.putBack(ctx, *h, store); err != nil {
		return err
	}
	e.views(*h)
	e.writable(*h, store)
	e.prompts(ctx, *h)
	return nil
}

// meta notes a mission's folder or meta.json that cannot be read: whoever works on the mission
// is told, and nobody can go on.
func (e *examination) meta(h RunHealth, slug string) {
	m, err := lanes.Load(e.p.Config.SpecsDir(), slug)
	if err == nil {
		err = m.CheckTopology(e.p.Config.Root)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || e.specsFault != nil {
		return // without a folder a run goes on; of all missions it is told once
	}
	f := Finding{Level: LevelWarning, Code: string(CodeNotRecorded), RunID: h.RunID, Message: err.Error(), Fix: "let this user read " + filepath.Join(e.p.Config.SpecsDir(), slug)}
	if known := fromLanes(err); known != nil {
		f.Code, f.Fix = string(known.Code), cmp.Or(known.NextStep, "mend the file")
	}
	f.Fix += "; until then nobody can work on mission " + slug
	e.find(f)
}

// unpublished notes artifacts that are recorded and not in their places.
func (e *examination) unpublished(h RunHealth, left *cursor.Unpublished) {
	if left == nil {
		return
	}
	e.find(Finding{Level: LevelWarning, Code: commit.WarnNotPublished, RunID: h.RunID, Fix: e.p.publishLine(h.MissionSlug),
		Message: fmt.Sprintf("the artifacts of revision %d are recorded and not all in their places: %s", left.Revision, strings.Join(left.Paths, ", "))})
}

// problem notes what is wrong with the journal, or with the state beside it.
func (e *examination) problem(h *RunHealth, problem error) {
	h.Problems = append(h.Problems, problem.Error())
	if wrong := new(commit.DamagedError); errors.As(problem, &wrong) && wrong.View {
		h.wrongView = true
		e.find(Finding{Level: LevelRepairable, Code: "view_wrong", RunID: h.RunID, Message: wrong.File + " is not what the journal says: " + wrong.Why, Fix: e.p.repairLine(h.RunID)})
		return
	}
	f := Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: h.RunID, Message: problem.Error()}
	switch known := fromCommit(problem); {
	case known == nil:
	case known.Code == CodeNewerFormat:
		h.Newer = true
		f.Code, f.Fix = string(known.Code), known.Next()+"; what this version does not know is kept"
		e.find(f)
		return
	default:
		f.Code = string(known.Code)
	}
	h.Damaged = true
	f.Fix = fmt.Sprintf("it is not repaired, since that would drop what was acknowledged: %d records in front of it are whole, `spec-kitty run replay` shows them. "+
		"Copy the folder, then restore %s from a backup, or find what wrote to it", h.Counts.Records, filepath.Join("runs", h.RunID))
	e.find(f)
}

// frozen notes what is wrong with the frozen files. The index of the definition
// is a view; all others are not.
func (e *examination) frozen(ctx context.Context, h *RunHealth, store Store) {
	for _, problem := range frozenProblems(ctx, store, false) {
		h.Problems = append(h.Problems, problem.why)
		f := Finding{Level: LevelDamage, Code: string(CodeStateDamaged), RunID: h.RunID, Message: problem.why,
			Fix: "restore the file from a backup of the run; the run goes on with exactly what it froze"}
		if isIndex(problem.file) {
			f.Level, f.Code, f.Fix = LevelRepairable, indexWrong, e.p.repairLine(h.RunID)
		} else {
			h.Damaged = true
		}
		e.find(f)
	}
}

func (p *Project) repairLine(run string) string {
	return "spec-kitty doctor" + p.rootFlag() + " --repair " + run
}

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
		e.find(Finding{Level: LevelRepairable, Code: code, RunID: h.RunID, Message: message, Fix: e.p.repairLine(h.RunID)})
	}
	if h.Counts.View != commit.ViewCurrent && !h.wrongView {
		note("view_"+h.Counts.View, "state.json is "+h.Counts.View+": the journal is read instead, and the next writer makes it anew")
	}
	if h.Counts.Tail > 0 {
		note("torn_tail", fmt.Sprintf("%d bytes at the journal's end were never acknowledged: the next writer cuts them", h.Counts.Tail))
	}
	if h.Counts.Leftovers > 0 {
		note("leftovers", fmt.Sprintf("%d temporary files of writers that died, or are at work", h.Counts.Leftovers))
	}
}
