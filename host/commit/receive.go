package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Whole is a run as bytes: what was carried from one storage to another.
type Whole struct {
	ID      string
	Subject string            // the slug
	Journal []byte            // whole lines, first to last
	Blobs   map[string][]byte // the frozen files, by name; folders with "/"
}

// Receiver is a Catalog that can take in a run from elsewhere. Files is one.
type Receiver interface {
	// Receive enters a whole run. It is durable on return. added is false where
	// the run was there already with the same journal. Nothing is entered on an
	// error: *DamagedError, *TwoWritersError and *NewerFormatError for a journal
	// that is not whole and sound, *TakenError where the run is there with
	// another history, *ExistsError where the slug has a run that it cannot
	// stand beside. Where the index names another run of the slug that is gone it
	// goes on doing so, which is a warning.
	Receive(ctx context.Context, w Whole) (added bool, warnings []Warning, err error)
}

// TakenError says that a run is there with another history than the one that
// was to be received.
type TakenError struct {
	ID       string
	Have     uint64 // revision of the run that is there
	Given    uint64 // revision of the other one
	Diverged bool   // neither is the beginning of the other
}

func (e *TakenError) Error() string {
	how := "it goes on from what is given"
	switch {
	case e.Diverged:
		how = "the two went different ways: one of them was used after the other was copied from it"
	case e.Given > e.Have:
		how = "what is given goes on from it"
	}
	return fmt.Sprintf("run %s is here at revision %d, what is given is at revision %d: %s", e.ID, e.Have, e.Given, how)
}

var _ Receiver = (*Files[int, int, int])(nil)

// Receive implements Receiver. It is a start whose records are there already:
// the same private folder, the same order of syncs, the same commit point.
func (f *Files[S, F, E]) Receive(ctx context.Context, w Whole) (added bool, warnings []Warning, err error) {
	n := New[S, F, E]{ID: w.ID, Blobs: w.Blobs, Again: true}
	if err := f.checkNew(w.Subject, n); err != nil {
		return false, nil, err
	}
	at, err := f.soundWhole(w)
	if err != nil {
		return false, nil, err
	}
	if err := f.makeRoot(); err != nil {
		return false, nil, err
	}
	unlock, err := f.indexed(ctx, func(held *locks.Held, settled journal.Position) (err error) {
		n.settled = settled
		added, warnings, err = f.receiveLocked(ctx, held, w, at, n)
		return err
	})
	return added, append(warnings, unlock...), err
}

// received is what a run that came in stands at.
type received[S any] struct {
	loaded[S]
	origin
	finished bool
}

// soundWhole folds the journal in memory, so that nothing on the disk was
// touched when it turns out not to be sound.
func (f *Files[S, F, E]) soundWhole(w Whole) (received[S], error) {
	var out received[S]
	s, err := unpack[S, F](f.machine, w, f.opts.Journal)
	if err != nil {
		return out, err
	}
	j, err := s.readable()
	if err != nil {
		return out, err
	}
	defer j.Close()
	if out.loaded, err = s.load(j, nil, nil, false); err != nil {
		return out, err
	}
	if rest := int64(len(w.Journal)) - out.pos.End; rest > 0 {
		return out, &DamagedError{File: f.opts.Journal, Line: out.pos.Revision + 1, Why: fmt.Sprintf("%d bytes follow the last whole record", rest)}
	}
	if out.subject != w.Subject {
		return out, &DamagedError{File: f.opts.Journal, Line: 1, Why: fmt.Sprintf("it is about %q, not %q", out.subject, w.Subject)}
	}
	first, _, err := journal.At(j, 0, int64(bytes.IndexByte(w.Journal, '\n')+1))
	if err != nil {
		return out, s.damage(err)
	}
	out.origin = origin{id: w.ID, slug: w.Subject, at: first.At}
	out.finished = f.machine.Finished(out.state)
	return out, nil
}

func (f *Files[S, F, E]) receiveLocked(ctx context.Context, held *locks.Held, w Whole, at received[S], n New[S, F, E]) (bool, []Warning, error) {
	if err := f.prepareRoot(); err != nil {
		return false, nil, err
	}
	if there, err := f.alreadyHere(w, at.pos.Revision); there || err != nil {
		return false, nil, err
	}
	all, before, warnings, err := f.mayReceive(at, n.settled)
	if err != nil {
		return false, warnings, err
	}
	if err := held.Same(); err != nil {
		return false, warnings, &ReplacedError{Path: f.root}
	}
	view, err := f.view(at.pos, at.subject, at.state)
	if err == nil {
		err = f.build(n, next[S]{line: w.Journal, view: view})
	}
	if err != nil {
		return false, warnings, errors.Join(err, f.opts.Disk.RemoveAll(f.privateDir(w.ID)))
	}
	f.opts.Hook(PointStartSynced)
	unlock, err := f.name(ctx, w.Subject, w.ID, before)
	warnings = append(warnings, unlock...)
	if err != nil {
		return false, warnings, err
	}
	f.opts.Hook(PointStartRenamed)
	warnings = append(warnings, f.enterReceived(all, at.origin)...)
	f.opts.Hook(PointStartIndexed)
	return true, warnings, nil
}

// enterReceived is enter for a run that need not be its slug's last one, and that
// nobody asked for to forget one which is gone.
func (f *Files[S, F, E]) enterReceived(all roll, o origin) []Warning {
	runs := append(all.runs, o)
	if id := f.goneEntry(o.slug); id != "" {
		gone := &GoneError{Slug: o.slug, ID: id}
		return append(indexWarning(f.writeRoster(runs)), Warning{WarnRunMissing, gone.Error()})
	}
	id, err := f.follow(latest(runs)[o.slug].id, o.slug)
	switch {
	case err != nil:
		return indexWarning(err)
	case id == o.id:
		return f.enter(all, o)
	case f.readEntry(o.slug) != id: // it named the run that has come back
		err = f.writeEntry(o.slug, id)
	}
	return indexWarning(errors.Join(err, f.writeRoster(runs)))
}

// alreadyHere compares with the run of this id, if there is one. Its files were
// durable before it had its name; whoever gave it the name may have died before
// that was, so that is made sure of before the run is answered for.
func (f *Files[S, F, E]) alreadyHere(w Whole, revision uint64) (bool, error) {
	s := f.run(w.ID, f.runDir(w.ID))
	if _, err := f.opts.Disk.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := s.first(); err != nil {
		return false, err
	}
	have, err := durable.ReadFile(f.opts.Disk, s.journalPath(), int64(max(len(w.Journal), backupLimit)))
	if err != nil {
		return false, err
	}
	if bytes.Equal(have, w.Journal) {
		return true, f.syncNames()
	}
	same := bytes.HasPrefix(have, w.Journal) || bytes.HasPrefix(w.Journal, have)
	return false, &TakenError{ID: w.ID, Have: uint64(bytes.Count(have, []byte{'\n'})), Given: revision, Diverged: !same}
}

// mayReceive refuses a run beside one of the same slug that is not over, since
// a slug has one live run. before is the run that the new one follows, none where
// it is older than what is here, or the first.
func (f *Files[S, F, E]) mayReceive(at received[S], settled journal.Position) (all roll, before predecessor, warnings []Warning, err error) {
	none := predecessor{}
	all, before, warnings, err = f.mayStart(at.slug, New[S, F, E]{ID: at.id, Again: true, settled: settled})
	if err != nil || before == none || at.at.After(f.origin(before.id).at) {
		return all, before, warnings, err
	}
	if !at.finished {
		return all, none, warnings, &ExistsError{Slug: at.slug, ID: before.id}
	}
	return all, none, warnings, nil
}
