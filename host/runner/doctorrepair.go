package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
)

// Repair is what a repair did to one run.
type Repair struct {
	RunID  string   `json:"run_id"`
	Done   []string `json:"done"`   // sentences; none: there was nothing to do
	Backup *string  `json:"backup"` // the folder with the run as it was; null where nothing was changed in it
	Before Counts   `json:"before"`
	After  Counts   `json:"after"`

	failed []string // why something could not be written
}

// Repair mends one run, named by its id or by its mission, whose latest run it
// then is: it makes anew what is a view, and changes no record. A run that is
// damaged or of a newer version is refused, with the reason, and left as it is.
// The diagnosis is of after the repair. What could not be written is an error of code
// not_recorded, which also says what was done all the same.
func (p *Project) Repair(ctx context.Context, name string) (Diagnosis, error) {
	id, slug, err := p.toRepair(ctx, name)
	if err != nil {
		return Diagnosis{}, classify(err)
	}
	before, err := p.Doctor(ctx)
	if err != nil {
		return before, err
	}
	for _, f := range before.Findings {
		if f.RunID == id && f.Level == LevelDamage {
			return before, &Error{Code: Code(f.Code), Message: f.Message, NextStep: f.Fix}
		}
	}
	done := Repair{RunID: id, Done: []string{}, Before: countsOf(before, id)}
	if err := p.mend(ctx, id, slug, before, &done); err != nil {
		return before, classify(err)
	}
	after, err := p.Doctor(ctx)
	done.After = countsOf(after, id)
	after.Repair = &done
	return after, err
}

// toRepair finds the run that a name means.
func (p *Project) toRepair(ctx context.Context, name string) (id, slug string, err error) {
	entries, err := p.runs.List(ctx)
	if err != nil {
		return "", "", err
	}
	for _, e := range entries {
		if strings.EqualFold(e.ID, name) {
			return e.ID, e.Slug, nil
		}
	}
	m, err := p.missionOrSlug(ctx, name)
	if err != nil {
		return "", "", err
	}
	store, err := p.runs.Lookup(ctx, m.Slug)
	if err != nil {
		return "", "", err
	}
	defer store.Close()
	return store.ID(), m.Slug, nil
}

func countsOf(d Diagnosis, id string) Counts {
	for _, h := range d.RunHealth {
		if h.RunID == id {
			return h.Counts
		}
	}
	return Counts{}
}

// mend does what the findings about the run ask for.
func (p *Project) mend(ctx context.Context, id, slug string, d Diagnosis, done *Repair) error {
	inRun, index, prompts := false, false, false
	for _, f := range d.Findings {
		if f.RunID == id && f.Level == LevelRepairable {
			inRun = inRun || f.Code != "index_entry" && f.Code != promptMissing
			index = index || f.Code == indexWrong
			prompts = prompts || f.Code == promptMissing
		}
	}
	keeper := p.runs.(commit.Keeper) // Doctor asked for it
	if inRun {
		if err := p.mendRun(ctx, id, keeper, index, done); err != nil {
			return err
		}
	}
	if prompts {
		written, failed, err := p.mendPrompts(ctx, id)
		if err != nil {
			return err
		}
		for _, name := range written {
			done.Done = append(done.Done, "wrote the prompt of "+name)
		}
		for _, w := range failed {
			done.failed = append(done.failed, w.Message)
		}
	}
	changed, err := keeper.MendEntry(ctx, slug)
	if changed {
		done.Done = append(done.Done, "made the index of runs anew for mission "+slug)
	}
	if len(done.failed) == 0 {
		done.failed = d.unwritten(id)
	}
	return cmp.Or(err, done.failure())
}

// failure is the error of a repair that is not whole; nil where it is.
func (r *Repair) failure() error {
	if len(r.failed) == 0 {
		return nil
	}
	text := "run " + r.RunID + " could not be repaired: " + strings.Join(r.failed, "; ")
	if len(r.Done) > 0 {
		text += " (" + strings.Join(r.Done, "; ") + ")"
	}
	return fail(CodeNotRecorded, "look at the place and the permissions of what is named, then repair again", "%s", text)
}

func (p *Project) mendRun(ctx context.Context, id string, keeper commit.Keeper, index bool, done *Repair) error {
	store, err := p.runs.Open(ctx, id)
	if err != nil {
		return err
	}
	defer store.Close()
	m, ok := store.(commit.Mender)
	if !ok {
		return errors.New("this store cannot be mended")
	}
	backup := keeper.BackupDir(id, p.now().UTC().Format("20060102T150405.000000000"))
	made, err := m.Mend(ctx, backup)
	if _, gone := os.Stat(backup); gone == nil {
		done.Backup = &backup
	}
	if err != nil {
		return err
	}
	done.written(made)
	if len(made.Removed) > 0 {
		done.Done = append(done.Done, fmt.Sprintf("removed %d temporary files", len(made.Removed)))
	}
	if !index {
		return nil
	}
	indexes, err := mendIndexes(ctx, store)
	for _, name := range indexes {
		done.Done = append(done.Done, "made "+name+" anew from the frozen definition")
	}
	return err
}

// written notes what became of the journal's end and of the state file.
func (r *Repair) written(made commit.Mending) {
	view := made.Repaired
	for _, w := range made.Warnings {
		if w.Code == commit.WarnViewNotWritten {
			view = false
			r.failed = append(r.failed, w.Message)
		} else {
			r.Done = append(r.Done, "but: "+w.Message)
		}
	}
	cut := fmt.Sprintf("cut %d bytes that were never acknowledged", r.Before.Tail)
	switch cuts := made.Repaired && r.Before.Tail > 0; {
	case view && cuts:
		r.Done = append(r.Done, "made state.json anew from the journal and "+cut)
	case view:
		r.Done = append(r.Done, "made state.json anew from the journal")
	case cuts:
		r.Done = append(r.Done, cut)
	}
}
