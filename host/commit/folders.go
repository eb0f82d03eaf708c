package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// goneName is how a folder is called while it is removed.
const goneName = ".gone-"

// deadAfter is the age at which the private folder of a creation is taken for a
// dead one's. A creation takes milliseconds; one that lived that long would fail
// to give its folder a name, and harm nothing.
const deadAfter = time.Hour

// Folders is stores by name: one folder each, and one history for as long as the
// name is in use. Unlike a Catalog it has no index and no lock of its own: a
// store is made with no lock at all, by a rename that only one can do.
//
//	NAME/    journal, state.json, state.json.lock once something was committed
type Folders[S, F, E any] struct {
	*core[S, F, E]
	home string // of the stores, in the root
}

// NewFolders gives the stores in the folder home, which is one of those in the
// folder that all state lies in. It touches nothing.
func NewFolders[S, F, E any](home string, m Machine[S, E], outside Outside[S, F, E], o Options) *Folders[S, F, E] {
	return &Folders[S, F, E]{core: newCore(filepath.Dir(home), m, outside, o), home: home}
}

// SupersededError says that the folder of a store was removed and made anew: what
// lies under the name is another one.
type SupersededError struct{ Path, ID, Now string }

func (e *SupersededError) Error() string {
	return fmt.Sprintf("%s was removed and made anew: it is %s, not %s any more; nothing was recorded", e.Path, e.Now, e.ID)
}

// folder is a run whose name may lead to another one later.
type folder[S, F, E any] struct{ *run[S, F, E] }

func (f *Folders[S, F, E]) dir(name string) string { return filepath.Join(f.home, name) }

// Create makes the store name with its first record. It is durable on return.
// *ExistsError where something lies under the name. A refusal of first leaves no
// trace. It takes no lock: of those that create one name together, one gives its
// folder the name, and the others' rename fails since it is not empty.
func (f *Folders[S, F, E]) Create(ctx context.Context, name, id string, first Transition[S, F, E]) (Store[S, F, E], Outcome[S, E], error) {
	out := Outcome[S, E]{Snapshot: Snapshot[S]{ID: id, Subject: name, State: f.machine.Zero(), Warnings: f.shared()}}
	if err := errors.Join(checkName("name", name), checkName("id", id)); err != nil {
		return nil, out, err
	}
	made, events, err := f.firstRecord(ctx, id, name, first)
	if err != nil {
		return nil, out, err
	}
	if _, err := f.opts.Disk.Stat(f.dir(name)); err == nil {
		return nil, out, &ExistsError{Slug: name, ID: f.idOf(name)}
	}
	if err := f.prepare(); err != nil {
		return nil, out, err
	}
	private := f.dir(privatePrefix + id)
	if err := f.fill(private, made); err != nil {
		return nil, out, errors.Join(err, f.opts.Disk.RemoveAll(private))
	}
	f.opts.Hook(PointStartSynced)
	if err := f.opts.Disk.Rename(private, f.dir(name)); err != nil {
		err = errors.Join(err, f.opts.Disk.RemoveAll(private))
		if _, there := f.opts.Disk.Stat(f.dir(name)); there == nil {
			err = &ExistsError{Slug: name, ID: f.idOf(name)}
		}
		return nil, out, err
	}
	if err := f.opts.Disk.SyncDir(f.home); err != nil {
		return nil, out, &UncertainError{fmt.Errorf("%s has its name, which may not last: %w", name, err)}
	}
	f.opts.Hook(PointStartRenamed)
	out.recorded(made, events)
	return f.store(name, id), out, nil
}

// prepare makes the stores' folder, and removes what dead creations left.
func (f *Folders[S, F, E]) prepare() error {
	if err := f.makeRoot(); err != nil {
		return err
	}
	if err := f.makeFolder(f.home); err != nil {
		return err
	}
	if err := f.syncRoot(); err != nil {
		return err
	}
	entries, err := f.opts.Disk.ReadDir(f.home)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if f.dead(e) {
			_ = f.opts.Disk.RemoveAll(f.dir(e.Name())) // it only takes space
		}
	}
	return nil
}

// dead tells whether a folder is one that nobody needs any more.
func (f *Folders[S, F, E]) dead(e fs.DirEntry) bool {
	if strings.HasPrefix(e.Name(), goneName) {
		return true
	}
	info, err := e.Info()
	return strings.HasPrefix(e.Name(), privatePrefix) && err == nil && !info.ModTime().IsZero() &&
		f.opts.Now().Sub(info.ModTime()) > deadAfter
}

func (f *Folders[S, F, E]) fill(private string, made next[S]) error {
	d := f.opts.Disk
	if err := d.Mkdir(private, folderPerm); err != nil {
		return err
	}
	f.opts.Hook(PointStartPrivate)
	if err := durable.Create(d, filepath.Join(private, f.opts.Journal), made.line, filePerm); err != nil {
		return err
	}
	if f.opts.Watch {
		made.view.Stamp = durable.Stamp(d, filepath.Join(private, f.opts.Journal))
	}
	view, err := made.view.encode()
	if err != nil {
		return err
	}
	if err := durable.Create(d, filepath.Join(private, viewName), view, filePerm); err != nil {
		return err
	}
	return d.SyncDir(private)
}

// store is the store under a name, known to be the one of this id.
func (f *Folders[S, F, E]) store(name, id string) Store[S, F, E] {
	return folder[S, F, E]{f.run(id, f.dir(name))}
}

// Open opens the store of a name. ErrNoRun where there is nothing of a store
// under it; it writes nothing. A store that has lost its journal is opened all
// the same, and says so when it is read.
//
// Its name may not be durable yet: whoever made it may have died before that
// sync. The first commit makes sure of it.
func (f *Folders[S, F, E]) Open(ctx context.Context, name string) (Store[S, F, E], error) {
	if err := errors.Join(checkName("name", name), ctx.Err()); err != nil {
		return nil, err
	}
	if !f.tracked(name) {
		return nil, ErrNoRun
	}
	s := f.run(f.idOf(name), f.dir(name))
	lasting := func(context.Context) ([]Warning, error) {
		if err := f.opts.Disk.SyncDir(f.home); err != nil {
			return nil, &AppendError{fmt.Errorf("make the name %s durable: %w", name, err)}
		}
		return nil, nil
	}
	s.heal.Store(&lasting)
	return folder[S, F, E]{s}, nil
}

// tracked tells whether anything of a store lies under the name: what has lost a
// part is damaged, never new.
func (f *Folders[S, F, E]) tracked(name string) bool {
	for _, part := range []string{f.opts.Journal, viewName, runsName} {
		if _, err := f.opts.Disk.Stat(filepath.Join(f.dir(name), part)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// idOf is the id by the first record, else by the view, "" where neither says.
func (f *Folders[S, F, E]) idOf(name string) string {
	s := f.run("", f.dir(name))
	if rec, err := s.first(); rec.Run != "" || err == nil {
		return rec.Run
	}
	data, err := durable.ReadFile(f.opts.Disk, s.viewPath(), viewLimit)
	var v view
	if err != nil || sealed(data) != nil || json.Unmarshal(data, &v) != nil {
		return ""
	}
	return v.Run
}

// List gives the names of all stores.
func (f *Folders[S, F, E]) List(ctx context.Context) ([]string, error) {
	names, err := f.names(f.home)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if checkName("name", name) == nil && f.tracked(name) {
			out = append(out, name)
		}
	}
	return out, ctx.Err()
}

// Discard removes a store that is finished, under its lock. It is gone, durably,
// when Discard returns; whoever waits for its lock is told so.
func (f *Folders[S, F, E]) Discard(ctx context.Context, s Store[S, F, E]) error {
	one, ok := s.(folder[S, F, E])
	if !ok {
		return errors.New("this store was not opened here")
	}
	if err := one.straight(); err != nil {
		return err
	}
	_, err := f.locked(ctx, one.lock, func(held *locks.Held) error { return f.discard(held, one) })
	return one.said(err)
}

func (f *Folders[S, F, E]) discard(held *locks.Held, s folder[S, F, E]) error {
	l, err := s.readOnce()
	if err != nil {
		return err
	}
	if !f.machine.Finished(l.state) {
		return fmt.Errorf("%s is not finished", s.dir)
	}
	if err := s.same(held); err != nil {
		return err
	}
	aside := f.dir(goneName + s.id)
	if err := f.opts.Disk.Rename(s.dir, aside); err != nil {
		return err
	}
	if err := f.opts.Disk.SyncDir(f.home); err != nil {
		return &UncertainError{err}
	}
	return f.opts.Disk.RemoveAll(aside)
}

// Read implements Store.
func (s folder[S, F, E]) Read(ctx context.Context) (Snapshot[S], error) {
	snap, err := s.run.Read(ctx)
	return snap, s.said(err)
}

// Commit implements Store.
func (s folder[S, F, E]) Commit(ctx context.Context, t Transition[S, F, E]) (Outcome[S, E], error) {
	out, err := s.run.Commit(ctx, t)
	return out, s.said(err)
}

// said tells a store that is not there any more, or is another one's now, from
// one that is damaged. A folder that was removed while its lock was held is
// noticed by the lock; one that was made anew by the id in its records.
func (s folder[S, F, E]) said(err error) error {
	replaced := new(ReplacedError)
	if !isDamage(err) && !errors.As(err, &replaced) {
		return err
	}
	f := &Folders[S, F, E]{s.core, filepath.Dir(s.dir)}
	name := filepath.Base(s.dir)
	if !f.tracked(name) {
		return ErrNoRun
	}
	if now := f.idOf(name); now != "" && now != s.id {
		return &SupersededError{Path: s.dir, ID: s.id, Now: now}
	}
	return err
}
