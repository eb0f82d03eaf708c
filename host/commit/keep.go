package commit

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// backupsName is the folder in the root that backups of runs are kept in.
const backupsName = "backups"

// IndexFault is an entry of the index that is not what the run folders say.
type IndexFault struct {
	Slug string
	Run  string // the slug's latest run; "" where it has none
	Have string // the run that the entry names; "" where there is no usable entry
}

// IndexReport is what Index found.
type IndexReport struct {
	Complete bool // the roster has exactly the runs that there are
	Entries  int
	Runs     int // folders
	Faults   []IndexFault
	Private  []string // folders of starts that are at work, or died
	Gone     []Entry  // runs that the index knows and that have no folder any more
}

// Keeper is a Catalog that can be looked after. Files is one.
type Keeper interface {
	// Index holds the index against the run folders. It takes no lock and
	// writes nothing.
	Index(ctx context.Context) (IndexReport, error)
	// Gone lists the runs that the index knows and that have no folder any more,
	// by their ids. It takes no lock and writes nothing.
	Gone(ctx context.Context) ([]Entry, error)
	// RunsOf lists the ids of a slug's runs, older ones too. Its work grows with the
	// number of all runs, by little.
	RunsOf(ctx context.Context, slug string) ([]string, error)
	// MendEntry makes the entry of one slug what the run folders say, under
	// the index lock, and leaves the others, and one that names a run which is
	// gone. It tells whether it changed it.
	MendEntry(ctx context.Context, slug string) (bool, error)
	// LockFiles are the paths of all lock files, the index's first. They need
	// not be there.
	LockFiles() ([]string, error)
	// Places are the folders that starts and repairs write in, the root first. They
	// need not be there.
	Places() []string
	// BackupDir is where the backup of a run belongs, by a name of its own.
	BackupDir(id, name string) string
}

var _ Keeper = (*Files[int, int, int])(nil)

// Index implements Keeper.
func (f *Files[S, F, E]) Index(ctx context.Context) (IndexReport, error) {
	var out IndexReport
	all, err := f.call()
	if err != nil {
		return out, err
	}
	entries, err := f.names(filepath.Join(f.root, indexName))
	if err != nil {
		return out, err
	}
	out.Entries, out.Runs, out.Complete = len(entries), len(all.runs), all.whole || len(all.runs) == 0 && len(entries) == 0
	if out.Faults, err = f.faults(all.latest, entries); err != nil {
		return out, err
	}
	out.Gone = f.gone(all, entries)
	out.Private, err = f.private()
	return out, errors.Join(err, ctx.Err())
}

// Gone implements Keeper.
func (f *Files[S, F, E]) Gone(ctx context.Context) ([]Entry, error) {
	all, err := f.call()
	if err != nil {
		return nil, err
	}
	entries, err := f.names(filepath.Join(f.root, indexName))
	if err != nil {
		return nil, err
	}
	return f.gone(all, entries), ctx.Err()
}

// RunsOf implements Keeper.
func (f *Files[S, F, E]) RunsOf(ctx context.Context, slug string) ([]string, error) {
	all, err := f.call()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range all.runs {
		if o.slug == slug {
			ids = append(ids, o.id)
		}
	}
	return ids, ctx.Err()
}

// gone lists the runs that the roster or an entry names and that have no folder.
func (f *Files[S, F, E]) gone(all roll, entries []string) []Entry {
	left := map[string]origin{}
	maps.Copy(left, f.readRoster())
	for _, o := range all.runs {
		delete(left, o.id)
	}
	for _, slug := range entries {
		if id := f.goneEntry(slug); id != "" {
			left[id] = origin{id: id, slug: slug}
		}
	}
	var out []Entry
	for _, id := range slices.Sorted(maps.Keys(left)) {
		out = append(out, Entry{Slug: left[id].slug, ID: id})
	}
	return out
}

func (f *Files[S, F, E]) faults(runs map[string]origin, entries []string) ([]IndexFault, error) {
	var found []IndexFault
	for slug, o := range runs {
		if checkName("slug", slug) != nil {
			continue
		}
		id, err := f.follow(o.id, slug)
		if err != nil {
			return nil, err
		}
		if have := f.readEntry(slug); have != id && f.goneEntry(slug) == "" { // else it is told as gone
			found = append(found, IndexFault{Slug: slug, Run: id, Have: have})
		}
	}
	for _, slug := range entries {
		if _, ok := runs[slug]; ok {
			continue
		}
		have := f.readEntry(slug)
		if have != "" {
			if ok, err := f.speaksOf(have, slug); ok || err != nil || f.goneEntry(slug) != "" {
				continue // the entry may be the only thing that knows a damaged run, or one that is gone
			}
		}
		found = append(found, IndexFault{Slug: slug, Have: have})
	}
	slices.SortFunc(found, func(a, b IndexFault) int { return strings.Compare(a.Slug, b.Slug) })
	return found, nil
}

// private lists the private folders of starts.
func (f *Files[S, F, E]) private() ([]string, error) {
	entries, err := f.opts.Disk.ReadDir(filepath.Join(f.root, runsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), privatePrefix) {
			found = append(found, e.Name())
		}
	}
	return found, nil
}

// MendEntry implements Keeper.
func (f *Files[S, F, E]) MendEntry(ctx context.Context, slug string) (bool, error) {
	if err := checkName("slug", slug); err != nil {
		return false, err
	}
	changed := false
	_, err := f.locked(ctx, f.lock, func(*locks.Held) (err error) {
		changed, err = f.mendEntry(slug)
		return err
	})
	return changed, err
}

// mendEntry writes the entry; the index lock is held. The run's name is made
// durable first, as in rebuild. Where all others are right, the roster is made
// whole too.
func (f *Files[S, F, E]) mendEntry(slug string) (bool, error) {
	if err := f.noLink(filepath.Join(f.root, indexName)); err != nil {
		return false, err
	}
	all, err := f.call()
	if err != nil {
		return false, err
	}
	if err := f.syncNames(); err != nil {
		return false, err
	}
	changed, err := f.mendOne(all, slug)
	if err != nil {
		return false, err
	}
	entries, err := f.names(filepath.Join(f.root, indexName))
	if err != nil {
		return changed, err
	}
	faults, err := f.faults(all.latest, entries)
	if err != nil || len(faults) > 0 || all.whole {
		return changed, err
	}
	if err := durable.RemoveTemps(f.opts.Disk, filepath.Join(f.root, indexName)); err != nil {
		return changed, err
	}
	return true, f.writeRoster(all.runs)
}

func (f *Files[S, F, E]) mendOne(all roll, slug string) (bool, error) {
	o, ok := all.latest[slug]
	if !ok {
		return false, nil
	}
	id, err := f.follow(o.id, slug)
	if err != nil || f.readEntry(slug) == id || f.goneEntry(slug) != "" {
		return false, err
	}
	if err := f.folders(f.root, filepath.Join(f.root, indexName), true); err != nil {
		return false, err
	}
	return true, f.writeEntry(slug, id)
}

// LockFiles implements Keeper.
func (f *Files[S, F, E]) LockFiles() ([]string, error) {
	paths := []string{filepath.Join(f.root, indexLockName)}
	ids, err := f.names(filepath.Join(f.root, runsName))
	for _, id := range ids {
		paths = append(paths, filepath.Join(f.runDir(id), viewName+lockSuffix), f.successorPath(id)+lockSuffix)
	}
	return paths, err
}

// Places implements Keeper.
func (f *Files[S, F, E]) Places() []string {
	return []string{f.root, filepath.Join(f.root, runsName), filepath.Join(f.root, indexName)}
}

// BackupDir implements Keeper.
func (f *Files[S, F, E]) BackupDir(id, name string) string {
	return filepath.Join(f.root, backupsName, id+"."+name)
}
