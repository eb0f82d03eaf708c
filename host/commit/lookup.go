package commit

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Lookup implements Catalog. A run that had to be looked for in the run
// folders gets its entry from its next commit.
func (f *Files[S, F, E]) Lookup(ctx context.Context, slug string) (Store[S, F, E], error) {
	if err := checkName("slug", slug); err != nil {
		return nil, err
	}
	id, indexed, err := f.find(slug)
	gone := new(GoneError)
	if err != nil && (!errors.As(err, &gone) || id == "") {
		return nil, err
	}
	s := f.opened(slug, id, indexed)
	if gone.ID != "" {
		s.gone = gone
	}
	return s, nil
}

// opened is a run with what has to happen before its next commit. The slug is
// "" where it does not matter.
func (f *Files[S, F, E]) opened(slug, id string, indexed bool) *run[S, F, E] {
	s := f.run(id, f.runDir(id))
	if !indexed {
		heal := func(ctx context.Context) ([]Warning, error) { return f.settle(ctx, slug, id) }
		s.heal.Store(&heal)
	}
	return s
}

// Open implements Catalog.
func (f *Files[S, F, E]) Open(ctx context.Context, id string) (Store[S, F, E], error) {
	if err := checkName("run id", id); err != nil {
		return nil, err
	}
	switch _, err := f.opts.Disk.Stat(f.runDir(id)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoRun
	case err != nil:
		return nil, err
	}
	return f.opened("", id, false), nil
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
		if o.slug == "" {
			o.slug = f.indexedAs(o.id)
		}
		out = append(out, Entry{Slug: o.slug, ID: o.id, Err: o.err})
	}
	return out, ctx.Err()
}

// indexedAs is the slug whose entry names a run, "" for none: the entry may be the
// only thing that knows one that lost its first record and its view.
func (f *Files[S, F, E]) indexedAs(id string) string {
	slugs, _ := f.names(filepath.Join(f.root, indexName)) // what is not read knows nothing
	for _, slug := range slugs {
		if f.readEntry(slug) == id {
			return slug
		}
	}
	return ""
}

// find gives the slug's run, and whether the index says so too. The work does
// not grow with the number of runs where it does; that there is no run, or
// another one than it says, is found out from the run folders. With a
// *GoneError comes the run that is there beside it, "" for none.
func (f *Files[S, F, E]) find(slug string) (id string, indexed bool, err error) {
	entry := f.readEntry(slug)
	if entry != "" {
		switch ok, err := f.speaksOf(entry, slug); {
		case err != nil:
			return "", false, err
		case ok:
			last, err := f.follow(entry, slug)
			return last, last == entry, err
		}
	}
	all, err := f.call()
	if err != nil {
		return "", false, err
	}
	id, err = f.pick(slug, all)
	if entry != "" && (err == nil || errors.Is(err, ErrNoRun)) && f.goneEntry(slug) == entry {
		err = &GoneError{Slug: slug, ID: entry}
	}
	return id, false, err
}

// settle makes the run's name durable and the index right where that is not
// known of them. It takes the index lock and gives it back, and is never called
// while a run's lock is held. That the name is durable is a condition of the
// commit, so what keeps it from being made so is the error; an index that is not
// right is a warning.
func (f *Files[S, F, E]) settle(ctx context.Context, slug, id string) ([]Warning, error) {
	if f.settled(slug, id) {
		return nil, nil
	}
	var index error
	warnings, err := f.locked(ctx, f.lock, func(*locks.Held) error {
		f.opts.Hook(PointHealLocked)
		if f.settled(slug, id) {
			return nil
		}
		if err := f.syncNames(); err != nil {
			return err
		}
		all, err := f.call()
		if err == nil {
			err = f.rebuild(all)
		}
		index = err
		return nil
	})
	f.opts.Hook(PointHealReleased)
	return append(warnings, indexWarning(index)...), err
}

func indexWarning(err error) []Warning {
	if err == nil {
		return nil
	}
	return []Warning{{WarnViewNotWritten, "the index of runs: " + err.Error()}}
}

// settled tells whether the index has the run; without a slug, and where the slug's
// entry names one that is gone, the roster has to.
func (f *Files[S, F, E]) settled(slug, id string) bool {
	if slug != "" && f.goneEntry(slug) == "" {
		return f.readEntry(slug) == id
	}
	_, ok := f.readRoster()[id]
	return ok
}

// mendIndex comes before the first commit on a run that the index did not name,
// and before the run's lock is taken. What could not be done is tried again by the
// next commit.
func (s *run[S, F, E]) mendIndex(ctx context.Context) ([]Warning, error) {
	heal := s.heal.Load()
	if heal == nil {
		return nil, nil
	}
	warnings, err := (*heal)(ctx)
	if err == nil && len(warnings) == 0 {
		s.heal.CompareAndSwap(heal, nil)
	}
	return warnings, err
}
