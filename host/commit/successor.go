package commit

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// A finished run that is followed by another of the same slug is marked in its
// own folder, durably before the other has its name. So an index entry which
// still names it, because the start died there or somebody put an old one
// back, is refuted by one look, whatever the number of runs.
//
// A finished run may also be opened again, by a commit. Of that and of a start
// that follows it one wins, whatever their order: both hold the run's succession
// lock, from before they look at the other's outcome until their own is there. The
// start looks whether the run is over still; the commit, whether a run that is
// there followed it. A mark of a start that died names no run and decides nothing.
// The locks are waited for in one order, index, succession, run, and nobody holds
// the first and the last together: no start waits for a commit at work with the index
// locked.

// successorFormat is the version of the mark.
const successorFormat = 1

// successor is runs/ID/successor.json. The run that it names may have never
// got its name.
type successor struct {
	Format int    `json:"format"`
	Run    string `json:"run"`
}

func (c *core[S, F, E]) successorPath(id string) string {
	return filepath.Join(c.runDir(id), successorName)
}

// markSuccessor is called under the index lock only.
func (c *core[S, F, E]) markSuccessor(id, next string) error {
	data, err := json.Marshal(successor{successorFormat, next})
	if err != nil {
		return err
	}
	_ = durable.RemoveTempsOf(c.opts.Disk, c.successorPath(id)) // of a start that died
	return durable.Replace(c.opts.Disk, c.successorPath(id), append(data, '\n'), filePerm)
}

// predecessor is a finished run that another one is to follow; zero is none.
type predecessor struct {
	id  string
	end journal.Position // is durable
}

// following gives a run its name behind the finished one that it follows. It is
// called under the index lock only.
func (f *Files[S, F, E]) following(ctx context.Context, slug string, before predecessor, id string, rename func() error) ([]Warning, error) {
	s := f.run(before.id, f.runDir(before.id))
	return f.locked(ctx, s.succession, func(held *locks.Held) error {
		f.opts.Hook(PointStartFollows)
		_, err := s.over(slug, before.end)
		if err == nil {
			err = s.same(held)
		}
		if err == nil {
			err = f.markSuccessor(before.id, id)
		}
		if err != nil {
			return err
		}
		f.opts.Hook(PointStartMarked)
		return rename()
	})
}

// unsettledError says that the record which ended a run may not be durable: its
// writer died before it was, or is at work still.
type unsettledError struct{ id string }

func (e *unsettledError) Error() string {
	return "the record that ended the run " + e.id + " may not be durable"
}

// over gives the end of a run that is over, and stays so when the power goes. The
// record at settled is durable, whatever the view says.
func (s *run[S, F, E]) over(slug string, settled journal.Position) (journal.Position, error) {
	j, err := s.readable()
	if err != nil {
		return journal.Position{}, err
	}
	defer j.Close()
	v, _ := s.readView()
	l, err := s.load(j, v, nil, false)
	switch {
	case err != nil:
	case !s.machine.Finished(l.state):
		err = &ExistsError{Slug: slug, ID: s.id}
	case !l.clean && l.pos != settled:
		err = &unsettledError{s.id}
	}
	return l.pos, err
}

// settleEnd makes the run's last record durable, as a commit does before it decides.
func (s *run[S, F, E]) settleEnd(ctx context.Context) (end journal.Position, warnings []Warning, err error) {
	unlock, err := s.locked(ctx, s.lock, func(held *locks.Held) error {
		j, err := s.openJournal(os.O_RDWR)
		if err != nil {
			return err
		}
		defer j.Close() // nothing is written in a close that a sync did not cover
		v, _ := s.readView()
		l, err := s.load(j, v, nil, true)
		if err == nil && !l.clean {
			warnings, err = s.repair(j, held, l)
		}
		end = l.pos
		return err
	})
	return end, append(warnings, unlock...), err
}

// errOpensAgain says that a commit would open a finished run again and does not
// hold its succession lock: it is made once more, with it.
var errOpensAgain = errors.New("the commit opens a finished run again")

// mayOpenAgain refuses to open a finished run that another one followed. It is
// called under the run's lock, and decides under its succession lock only.
func (s *run[S, F, E]) mayOpenAgain(subject string, succession *locks.Held) error {
	if succession == nil {
		return errOpensAgain
	}
	if err := s.same(succession); err != nil {
		return err
	}
	next, err := s.readSuccessor(s.id)
	if err != nil || next == "" {
		return err
	}
	there, err := s.speaksOf(next, subject)
	if err == nil && there {
		err = &FollowedError{ID: s.id, By: next}
	}
	return err
}

// readSuccessor is "" where there is no mark, or none that can be used. Its
// errors are the disk's.
func (c *core[S, F, E]) readSuccessor(id string) (string, error) {
	data, err := durable.ReadFile(c.opts.Disk, c.successorPath(id), indexLimit)
	if failed := new(fs.PathError); errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var mark successor
	if err != nil || json.Unmarshal(data, &mark) != nil || mark.Format != successorFormat || checkName("run id", mark.Run) != nil {
		return "", nil
	}
	return mark.Run, nil
}

// follow goes from a run of the slug to the last of those that followed it.
func (c *core[S, F, E]) follow(id, slug string) (string, error) {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		next, err := c.readSuccessor(id)
		if err != nil || next == "" {
			return id, err
		}
		switch ok, err := c.speaksOf(next, slug); {
		case err != nil:
			return id, err
		case !ok:
			return id, nil
		}
		id = next
	}
	return id, nil
}

// speaksOf tells whether the run is there and does not say that it is about
// another slug. A damaged one may be this slug's: reading it says so. The
// error is the disk's.
func (c *core[S, F, E]) speaksOf(id, slug string) (bool, error) {
	o := c.origin(id)
	switch {
	case errors.Is(o.err, ErrNoRun):
		return false, nil
	case o.unread():
		return false, o.err
	case o.err != nil:
		return o.slug == "" || o.slug == slug, nil
	default:
		return o.slug == slug, nil
	}
}
