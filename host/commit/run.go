package commit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// run is a Store in a folder. It holds nothing open between calls.
type run[S, F, E any] struct {
	*core[S, F, E]
	id   string
	dir  string
	lock *locks.Lock

	succession *locks.Lock // of who follows the run, or opens it again

	gone *GoneError // the run that the index names in place of this one; nil: none

	// heal makes the run's name durable, or says why not, and the index right,
	// before the next commit; nil: both are.
	heal atomic.Pointer[func(context.Context) ([]Warning, error)]
}

func (c *core[S, F, E]) run(id, dir string) *run[S, F, E] {
	return &run[S, F, E]{core: c, id: id, dir: dir,
		lock:       c.opts.Locks(filepath.Join(dir, viewName+lockSuffix)),
		succession: c.opts.Locks(filepath.Join(dir, successorName+lockSuffix)),
	}
}

// ID implements Store.
func (s *run[S, F, E]) ID() string { return s.id }

// Close implements Store.
func (s *run[S, F, E]) Close() error { return nil }

func (s *run[S, F, E]) viewPath() string    { return filepath.Join(s.dir, viewName) }
func (s *run[S, F, E]) journalPath() string { return filepath.Join(s.dir, s.opts.Journal) }

// readable opens the journal for reading. A writer has looked, before it took the
// lock, that no folder on the way is a link.
func (s *run[S, F, E]) readable() (durable.File, error) {
	if err := s.straight(); err != nil {
		return nil, err
	}
	return s.openJournal(os.O_RDONLY)
}

// openJournal opens it without O_APPEND: a repair writes in place, and an
// append must lie where the record before it ends.
func (s *run[S, F, E]) openJournal(flag int) (durable.File, error) {
	f, err := s.opts.Disk.OpenFile(s.journalPath(), flag, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, s.damage(err)
	}
	if _, derr := s.opts.Disk.Stat(s.dir); errors.Is(derr, fs.ErrNotExist) {
		return nil, ErrNoRun
	}
	return nil, &DamagedError{File: s.journalPath(), Why: "it is missing"}
}

// readView gives the intact view, or nil and the warning that says why there
// is none.
func (s *run[S, F, E]) readView() (*view, []Warning) {
	data, err := durable.ReadFile(s.opts.Disk, s.viewPath(), viewLimit)
	if err == nil {
		var v view
		if v, err = decodeView(data, s.id); err == nil {
			return &v, nil
		}
	}
	return nil, []Warning{s.viewIgnored(err)}
}

func (s *run[S, F, E]) viewIgnored(why error) Warning {
	return Warning{Code: WarnViewIgnored, Message: s.viewPath() + " is ignored, the journal was read instead: " + why.Error()}
}

// damage turns what the journal package found into this package's errors.
func (s *run[S, F, E]) damage(err error) error {
	var d *journal.DamageError
	switch {
	case errors.As(err, new(*durable.NotRegularError)), errors.Is(err, syscall.ENOTDIR):
		return notAFile(err, s.journalPath())
	case !errors.As(err, &d):
		return err
	case d.Class == journal.Twice:
		return &TwoWritersError{File: s.journalPath(), Line: d.Line, Why: d.Why}
	default:
		return &DamagedError{File: s.journalPath(), Line: d.Line, Why: d.Why}
	}
}

// notAFile makes damage of what lies where a file was, and could never be
// read; other errors stay.
func notAFile(err error, path string) error {
	if not := new(durable.NotRegularError); errors.As(err, &not) {
		return &DamagedError{File: path, Why: "it is " + not.Kind() + ", not a file"}
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return &DamagedError{File: path, Why: "a file lies where its folder was"}
	}
	return err
}

var _ Store[int, int, int] = (*run[int, int, int])(nil)
