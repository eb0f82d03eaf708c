package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Start implements Catalog. The index lock is held from the check to the
// entry; the run's own lock is not taken, since nobody can see the run before
// it has its name. Of a run that it follows the succession lock is (following).
func (f *Files[S, F, E]) Start(ctx context.Context, slug string, n New[S, F, E]) (Store[S, F, E], Outcome[S, E], error) {
	var out Outcome[S, E]
	s := f.run(n.ID, f.runDir(n.ID))
	if err := f.checkNew(slug, n); err != nil {
		return nil, out, err
	}
	if err := f.makeRoot(); err != nil {
		return nil, out, err
	}
	warnings, err := f.indexed(ctx, func(held *locks.Held, settled journal.Position) (err error) {
		n.settled = settled
		out, err = f.startLocked(ctx, held, slug, n)
		return err
	})
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		return nil, out, err
	}
	return s, out, nil
}

// indexed does work under the index lock. Work that is to follow a run whose end may
// not be durable is done anew once it is (settleEnd): for that the run's lock is needed,
// which nobody waits for while the index is locked.
func (f *Files[S, F, E]) indexed(ctx context.Context, work func(held *locks.Held, settled journal.Position) error) (warnings []Warning, err error) {
	var settled journal.Position
	for {
		unlock, err := f.locked(ctx, f.lock, func(held *locks.Held) error {
			f.opts.Hook(PointStartLocked)
			return work(held, settled)
		})
		f.opts.Hook(PointStartReleased)
		warnings = append(warnings, unlock...)
		open := new(unsettledError)
		if !errors.As(err, &open) {
			return warnings, err
		}
		var mended []Warning
		settled, mended, err = f.run(open.id, f.runDir(open.id)).settleEnd(ctx)
		warnings = append(warnings, mended...)
		if err != nil {
			return warnings, err
		}
	}
}

func (f *Files[S, F, E]) checkNew(slug string, n New[S, F, E]) error {
	errs := []error{checkName("slug", slug), checkName("run id", n.ID)}
	for name := range n.Blobs {
		_, err := f.run(n.ID, f.runDir(n.ID)).beside(name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *Files[S, F, E]) startLocked(ctx context.Context, held *locks.Held, slug string, n New[S, F, E]) (Outcome[S, E], error) {
	out := Outcome[S, E]{Snapshot: Snapshot[S]{ID: n.ID, Subject: slug, State: f.machine.Zero(), Warnings: f.shared()}}
	if err := f.prepareRoot(); err != nil {
		return out, err
	}
	all, before, warnings, err := f.mayStart(slug, n)
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		return out, err
	}
	first, events, err := f.firstRecord(ctx, n.ID, slug, n.First)
	if err != nil {
		return out, err
	}
	if err := held.Same(); err != nil {
		return out, &ReplacedError{Path: f.root}
	}
	if err := f.build(n, first); err != nil {
		return out, errors.Join(err, f.opts.Disk.RemoveAll(f.privateDir(n.ID)))
	}
	f.opts.Hook(PointStartSynced)
	warnings, err = f.name(ctx, slug, n.ID, before)
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		return out, err
	}
	f.opts.Hook(PointStartRenamed)
	out.recorded(first, events)
	out.Warnings = append(out.Warnings, f.enter(all, origin{id: n.ID, slug: slug, at: out.At})...)
	f.opts.Hook(PointStartIndexed)
	return out, nil
}

// firstRecord decides and makes the record that a history begins with.
func (c *core[S, F, E]) firstRecord(ctx context.Context, id, subject string, t Transition[S, F, E]) (next[S], []E, error) {
	l := loaded[S]{state: c.machine.Zero(), subject: subject, pos: journal.Position{Run: id}}
	facts, err := c.facts(ctx, l.state, t)
	if err != nil {
		return next[S]{}, nil, err
	}
	now := c.opts.Now().UTC().Round(0)
	events, err := t.Decide(l.state, facts, now)
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("the first transition (%s) recorded nothing", t.Kind())
	}
	if err != nil {
		return next[S]{}, nil, err
	}
	made, err := c.next(l, t.Kind(), t.Actor(), events, now)
	return made, events, err
}

// mayStart refuses a slug that has a run, and gives the finished one that the
// new run follows, if there is one. That there is no live run is established from
// the run folders, never from the slug's entry; but a run that the entry names and
// that has no folder may come back, and is forgotten only by who asks for another
// one. The index is mended on the way where it is wrong.
func (f *Files[S, F, E]) mayStart(slug string, n New[S, F, E]) (all roll, before predecessor, warnings []Warning, err error) {
	none := predecessor{}
	if all, err = f.call(); err != nil {
		return all, none, nil, err
	}
	before.id, err = f.pick(slug, all)
	if err != nil && !errors.Is(err, ErrNoRun) {
		return all, none, nil, err
	}
	if gone := f.goneEntry(slug); gone != "" && before == none && !n.Again {
		return all, none, nil, &GoneError{Slug: slug, ID: gone}
	}
	if !all.whole || !f.tidy(all, slug, before.id) {
		if err := f.syncNames(); err != nil {
			return all, none, nil, err
		}
		warnings = indexWarning(f.rebuild(all))
	}
	if before != none && !n.Again {
		return all, none, warnings, &ExistsError{Slug: slug, ID: before.id}
	}
	if before != none {
		if before.end, err = f.run(before.id, f.runDir(before.id)).over(slug, n.settled); err != nil {
			return all, none, warnings, err
		}
	}
	if _, err := f.opts.Disk.Stat(f.runDir(n.ID)); !errors.Is(err, fs.ErrNotExist) {
		return all, none, warnings, errors.Join(fmt.Errorf("the run id %s is taken: %w", n.ID, fs.ErrExist), err)
	}
	return all, before, warnings, nil
}

func (f *Files[S, F, E]) privateDir(id string) string {
	return filepath.Join(f.root, runsName, privatePrefix+id)
}

// build makes the whole run under a name that nobody looks at, durably.
func (f *Files[S, F, E]) build(n New[S, F, E], first next[S]) error {
	d, dir := f.opts.Disk, f.privateDir(n.ID)
	if err := d.Mkdir(dir, folderPerm); err != nil {
		return err
	}
	f.opts.Hook(PointStartPrivate)
	view, err := first.view.encode()
	if err != nil {
		return err
	}
	files := map[string][]byte{f.opts.Journal: first.line, viewName: view}
	for name, data := range n.Blobs {
		files[filepath.FromSlash(name)] = data
	}
	folders := map[string]bool{dir: true}
	for name, data := range files {
		path := filepath.Join(dir, name)
		parent := filepath.Dir(path)
		if err := f.folders(dir, parent, false); err != nil {
			return err
		}
		if err := durable.Create(d, path, data, filePerm); err != nil {
			return err
		}
		for ; !folders[parent]; parent = filepath.Dir(parent) {
			folders[parent] = true
		}
	}
	for folder := range folders {
		if err := d.SyncDir(folder); err != nil {
			return err
		}
	}
	return nil
}

// name gives the private folder its name: the commit point of a start. A run
// before it is marked first, so that no crash leaves an entry that hides the
// new one.
func (f *Files[S, F, E]) name(ctx context.Context, slug, id string, before predecessor) (warnings []Warning, err error) {
	d, private := f.opts.Disk, f.privateDir(id)
	rename := func() error { return d.Rename(private, f.runDir(id)) }
	if before.id == "" {
		err = rename()
	} else {
		warnings, err = f.following(ctx, slug, before, id, rename)
	}
	if err != nil {
		return warnings, errors.Join(err, d.RemoveAll(private))
	}
	if err := d.SyncDir(filepath.Join(f.root, runsName)); err != nil {
		return warnings, &UncertainError{fmt.Errorf("the run %s has its name, which may not last: %w", id, err)}
	}
	return warnings, nil
}

// enter writes the index entry and the roster. The run exists whatever happens
// here.
func (f *Files[S, F, E]) enter(all roll, o origin) []Warning {
	err := f.writeEntry(o.slug, o.id)
	if err == nil {
		err = f.writeRoster(append(all.runs, o))
	}
	if err != nil {
		return []Warning{{WarnViewNotWritten, "the run is started, its index entry is not written: " + err.Error()}}
	}
	return nil
}

// sweep removes the private folders and the temporary files of starts that died:
// whoever makes one holds the index lock, and now we do. What cannot be removed
// only takes space.
func (f *Files[S, F, E]) sweep() error {
	_ = durable.RemoveTempsOf(f.opts.Disk, filepath.Join(f.root, ignoreName))
	if f.opts.Owner != "" {
		_ = durable.RemoveTempsOf(f.opts.Disk, filepath.Join(f.root, ownerName))
	}
	_ = durable.RemoveTemps(f.opts.Disk, filepath.Join(f.root, indexName))
	dir := filepath.Join(f.root, runsName)
	entries, err := f.opts.Disk.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), privatePrefix) {
			_ = f.opts.Disk.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}
