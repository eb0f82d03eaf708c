package commit

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// syncNames makes the names of all run folders durable: whoever gave a run its
// name may have died or failed before that sync, and from here on the run is
// answered for.
func (f *Files[S, F, E]) syncNames() error {
	if err := f.opts.Disk.SyncDir(filepath.Join(f.root, runsName)); err != nil {
		return &AppendError{fmt.Errorf("make the runs' names durable: %w", err)}
	}
	return nil
}

// rebuild makes the index out of the roll; the index lock is held and the
// names of the runs are durable. An entry that names a run which is gone stays,
// whatever other runs its slug has: see goneEntry.
func (f *Files[S, F, E]) rebuild(all roll) error {
	dir := filepath.Join(f.root, indexName)
	if err := f.folders(f.root, dir, true); err != nil {
		return err
	}
	if err := durable.RemoveTemps(f.opts.Disk, dir); err != nil {
		return err
	}
	for slug, o := range all.latest {
		if checkName("slug", slug) != nil {
			continue
		}
		id, err := f.follow(o.id, slug)
		if err == nil && f.readEntry(slug) != id && f.goneEntry(slug) == "" {
			err = f.writeEntry(slug, id)
		}
		if err != nil {
			return err
		}
	}
	if err := f.removeStrays(dir, all); err != nil {
		return err
	}
	if err := f.opts.Disk.SyncDir(dir); err != nil {
		return err
	}
	return f.writeRoster(all.runs)
}

// removeStrays removes the entries of slugs without a run. The entry of a run
// whose folder no longer says what it is about, or is gone, stays: it is then the
// only thing that knows.
func (f *Files[S, F, E]) removeStrays(dir string, all roll) error {
	entries, err := f.names(dir)
	if err != nil {
		return err
	}
	for _, slug := range entries {
		if _, ok := all.latest[slug]; ok {
			continue
		}
		if id := f.readEntry(slug); id != "" {
			if ok, err := f.speaksOf(id, slug); ok || err != nil || f.goneEntry(slug) != "" {
				continue
			}
		}
		// One that cannot be removed says nothing all the same.
		_ = f.opts.Disk.Remove(f.indexPath(slug))
	}
	return nil
}

// goneEntry is the run that the slug's entry names and that has no folder; "" where
// the entry names none, or one that is there. The run may come back, and its entry is
// the only thing that knows: it is written over by a start that was asked for Again
// alone, by nobody who mends the index or takes in another run.
func (c *core[S, F, E]) goneEntry(slug string) string {
	id := c.readEntry(slug)
	if id == "" || !errors.Is(c.origin(id).err, ErrNoRun) {
		return ""
	}
	return id
}

// tidy tells whether the index has an entry for each slug and no other but those
// of runs that are gone, and the right one for this slug; id is "" where it has no
// run.
func (f *Files[S, F, E]) tidy(all roll, slug, id string) bool {
	entries, err := f.names(filepath.Join(f.root, indexName))
	if err != nil || f.readEntry(slug) != id && f.goneEntry(slug) == "" {
		return false
	}
	with := 0
	for _, entry := range entries {
		if _, ok := all.latest[entry]; ok {
			with++
		} else if f.goneEntry(entry) == "" {
			return false
		}
	}
	return with == len(all.latest)
}
