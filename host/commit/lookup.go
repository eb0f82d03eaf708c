package commit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Lookup implements Catalog. A run that had to be looked for in the run
// folders gets its entry from its next commit.
func (f *Files[S, F, E]) Lookup(ctx context.Context, slug string) (Store[S, F, E], error) {
	if err := checkName("slug", slug); err != nil {
		return nil, err
	}
	id, indexed, err := f.find(slug)
	if err != nil {
		return nil, err
	}
	return f.opened(slug, id, indexed), nil
}

// opened is a run with what has to happen before its next commit. The slug is
// "" where it does not matter.
func (f *Files[S, F, E]) opened(slug, id string, indexed bool) *run[S, F, E] {
	s := f.run(id, f.runDir(id))
	if !indexed {
		heal := func(ctx context.Context) error { return f.settle(ctx, slug, id) }
		s.heal.Store(&heal)
	}
	return s
}

// Open implements Catalog.
func (f *Files[S, F, E]) Open(ctx context.Context, id string) (Store[S, F, E], error) {
	if err := checkName("run id", id); err != nil {
		return nil, err
	}
	if _, err := f.opts.Disk.Stat(f.runDir(id)); err != nil {
		return nil, lockError(err)
	}
	return f.opened("", id, f.readComplete() != nil), nil
}

// List implements Catalog. It reads the run folders, so it shows what the
// index may not.
func (f *Files[S, F, E]) List(ctx context.Context) ([]Entry, error) {
	all, err := f.scan()
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(all))
	for _, o := range all {
		out = append(out, Entry{Slug: o.slug, ID: o.id, Err: o.err})
	}
	return out, ctx.Err()
}

// find gives the slug's run, and whether the index says so too.
func (f *Files[S, F, E]) find(slug string) (id string, indexed bool, err error) {
	id, absent := f.readEntry(slug)
	if id != "" && f.readComplete() != nil && f.speaksOf(id, slug) {
		return id, true, nil
	}
	if absent && f.isComplete() {
		return "", false, ErrNoRun
	}
	all, err := f.scan()
	if err != nil {
		return "", false, err
	}
	if o, ok := latest(all)[slug]; ok {
		return o.id, false, nil
	}
	return "", false, ErrNoRun
}

// speaksOf tells whether the run is there and does not say that it is about
// another slug. A damaged one may be this slug's: reading it says so.
func (f *Files[S, F, E]) speaksOf(id, slug string) bool {
	o := f.origin(id)
	if o.err != nil {
		return !errors.Is(o.err, ErrNoRun) && (o.slug == "" || o.slug == slug)
	}
	return o.slug == slug
}

// rebuild makes the index out of the run folders; the index lock is held.
//
// It syncs the run folders' names first: whoever gave a run its name may have
// died or failed before that sync, and from here on the run is answered for.
func (f *Files[S, F, E]) rebuild() error {
	if err := f.opts.Disk.SyncDir(filepath.Join(f.root, runsName)); err != nil {
		return &AppendError{fmt.Errorf("make the runs' names durable: %w", err)}
	}
	all, err := f.scan()
	if err != nil {
		return err
	}
	dir := filepath.Join(f.root, indexName)
	if err := f.folders(f.root, dir, true); err != nil {
		return err
	}
	if err := durable.RemoveTemps(f.opts.Disk, dir); err != nil {
		return err
	}
	runs := latest(all)
	for slug, o := range runs {
		if id, _ := f.readEntry(slug); id == o.id || checkName("slug", slug) != nil {
			continue
		}
		if err := f.writeEntry(slug, o.id); err != nil {
			return err
		}
	}
	entries, err := f.names(dir)
	if err != nil {
		return err
	}
	for _, slug := range entries {
		if _, ok := runs[slug]; ok || f.damagedEntry(slug) {
			continue
		}
		if err := f.opts.Disk.Remove(f.indexPath(slug)); err != nil {
			return err
		}
	}
	if err := f.opts.Disk.SyncDir(dir); err != nil {
		return err
	}
	return f.writeComplete()
}

// damagedEntry keeps the entry of a run whose folder no longer says what it is
// about: the entry is then the only thing that knows.
func (f *Files[S, F, E]) damagedEntry(slug string) bool {
	id, _ := f.readEntry(slug)
	return id != "" && f.speaksOf(id, slug)
}

// settle takes the index lock, makes the index if that is still needed for the
// run, and gives the lock back. It is never called while a run's lock is held.
func (f *Files[S, F, E]) settle(ctx context.Context, slug, id string) error {
	err := f.lock.Do(ctx, max(f.opts.LockTimeout, 0), func(*locks.Held) error {
		f.opts.Hook(PointHealLocked)
		named := slug == ""
		if !named {
			entry, _ := f.readEntry(slug)
			named = entry == id
		}
		if named && f.isComplete() {
			return nil
		}
		return f.rebuild()
	})
	f.opts.Hook(PointHealReleased)
	return err
}

// isComplete tells whether the index is known to have all runs.
func (f *Files[S, F, E]) isComplete() bool {
	stamp := f.readComplete()
	count, err := f.count()
	return err == nil && stamp != nil && *stamp == count
}

// mendIndex comes before the first commit on a run that was found while the
// index was not complete. The index lock is released before the run's lock is
// taken. That the run's name is durable is a condition of the commit; its
// entry is a view.
func (s *run[S, F, E]) mendIndex(ctx context.Context) ([]Warning, error) {
	heal := s.heal.Load()
	if heal == nil {
		return nil, nil
	}
	err := (*heal)(ctx)
	switch unsynced := new(AppendError); {
	case err == nil:
		s.heal.CompareAndSwap(heal, nil)
		return nil, nil
	case errors.As(err, &unsynced):
		return nil, unsynced
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, new(*locks.TimeoutError)):
		return nil, lockError(err)
	default:
		return []Warning{{WarnViewNotWritten, "the index of runs: " + err.Error()}}, nil
	}
}
