package runner

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/guard"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// world reads the facts outside of a run: once before a plan is made, and again
// under the lock. It is host code and runs nothing foreign.
type world struct {
	project *Project
	opts    commit.Options // of the runs' store: the lane log is written through the same disk and locks
}

// Facts implements the commit core's Outside.
func (w *world) Facts(_ context.Context, s cursor.State, t transition) (cursor.Facts, error) {
	if start, ok := t.(cursor.Start); ok {
		m, err := lanes.Load(w.project.Config.SpecsDir(), start.Mission)
		if err != nil {
			return cursor.Facts{}, err
		}
		r := &run{mission: m, packages: lanes.NewReader(m.Dir), lanes: lanes.NewLogReader(m.Dir)}
		return w.read(r, start.Def, s), nil
	}
	r := w.run(s.Run)
	def, err := r.view(s)
	if err != nil {
		return cursor.Facts{}, err
	}
	f := w.read(r, def, s)
	if report, ok := t.(cursor.Report); ok {
		f.Digests = w.digests(r, s, f, report.Base.Facts)
		w.standing(report.Outcome, f.Digests)
	}
	return f, nil
}

// run is an open run.
func (w *world) run(id string) *run {
	w.project.mu.Lock()
	defer w.project.mu.Unlock()
	return w.project.open[id]
}

// read reads packages and lanes of a run. Where they cannot be read, the facts
// say so: it is an error only for who needs them.
func (w *world) read(r *run, def mission.View, s cursor.State) cursor.Facts {
	f := cursor.Facts{Def: def}
	if def == nil || !def.HasPackages() {
		return f
	}
	w.packages(r, s, &f)
	return f
}

// packages reads the packages and where their lanes lie into the facts.
func (w *world) packages(r *run, s cursor.State, f *cursor.Facts) {
	source, log, err := w.laneLog(r, s)
	f.Source, f.Fault = cursor.Source(source), err
	if err != nil {
		return
	}
	files, err := r.packages.Packages()
	if err != nil {
		f.Fault = err
		return
	}
	with := make(map[string]bool, len(files))
	f.Packages = make([]cursor.PackageFact, 0, len(files))
	for _, p := range files {
		with[p.ID] = true
		f.Packages = append(f.Packages, fact(p, log, source, s.Run))
	}
	for _, id := range sortedKeys(s.Packages) {
		if !with[id] {
			f.Lost = append(f.Lost, fact(lanes.Package{ID: id}, log, source, s.Run))
		}
	}
}

// laneLog reads the lane log where the run's lanes lie there, or where it is
// beside them, and gives where they lie.
func (w *world) laneLog(r *run, s cursor.State) (lanes.Source, lanes.Log, error) {
	setting := lanes.Source(w.project.Config.Source)
	if s.Source != "" {
		setting = lanes.Source(s.Source)
	}
	source, err := lanes.Choose(setting, r.mission.Dir)
	if err != nil {
		return "", lanes.Log{}, err
	}
	if source != lanes.KittySpecs && !w.beside(r, s) {
		return source, lanes.Log{}, nil
	}
	log, err := r.lanes.Read()
	switch {
	case source != lanes.KittySpecs:
		return source, log, nil // one that cannot be read says nothing, and is told
	case s.Source == cursor.KittySpecs && errors.Is(err, fs.ErrNotExist):
		err = logGone(r.mission)
	}
	return source, log, err
}

func fact(p lanes.Package, log lanes.Log, source lanes.Source, run string) cursor.PackageFact {
	f := cursor.PackageFact{ID: p.ID, Title: p.Title, DependsOn: p.DependsOn}
	at := log.At(p.ID)
	holder := cursor.Holder{Agent: at.Holder, Worker: at.Worker}
	switch {
	case source == lanes.KittySpecs:
		f.Lane, f.From, f.Since, f.Ended = at.Lane, at.From, at.Since, at.Ended
		f.Holder, f.Author = holder, cursor.Holder{Agent: at.Author, Worker: at.AuthorWorker}
		f.Logged = at.Revisions[run]
	case at.Lane != mission.Genesis:
		f.Beside = cursor.Beside{Lane: at.Lane, Holder: holder}
	}
	return f
}

// Facts that guards and plugins read are named by who names them: what a
// built-in guard saw in the mission's folder, where it saw a package lie, what a
// plugin saw below its mounts.
const (
	guardFact   = "artifact "
	packageFact = "the lane of package "
	pluginFact  = "plugin "
)

// digests reads the named facts again.
func (w *world) digests(r *run, s cursor.State, f cursor.Facts, wanted map[string]string) map[string]string {
	found := make(map[string]string, len(wanted))
	for name := range wanted {
		if id, ok := strings.CutPrefix(name, packageFact); ok {
			found[name] = string(s.Lane(f, id))
			continue
		}
		digest, err := w.digest(r, s, name)
		if err != nil {
			digest = "unreadable: " + err.Error()
		}
		found[name] = digest
	}
	return found
}

func (w *world) digest(r *run, s cursor.State, name string) (string, error) {
	if seen, ok := strings.CutPrefix(name, guardFact); ok {
		return guard.Digest(r.mission.Dir, seen)
	}
	return w.project.seenByPlugin(r, s, strings.TrimPrefix(name, pluginFact))
}

// lanesOf lists the lanes of all packages, for the progress.
func lanesOf(s cursor.State, f cursor.Facts) []mission.Lane {
	var all []mission.Lane
	for _, p := range f.Packages {
		all = append(all, s.Lane(f, p.ID))
	}
	return all
}
