package commit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// backupLimit bounds a file that a backup copies, bytes.
const backupLimit = 1 << 30

// Mending is what Mend did.
type Mending struct {
	Repaired bool     // the journal's end was made durable, the state file made anew
	Removed  []string // temporary files, relative to the run's folder
	Warnings []Warning
}

// Mender is a Store that can be mended without a commit. The stores of Files
// are Menders.
type Mender interface {
	// Mend does, under the lock, what a commit does before it decides, and
	// removes temporary files. A state file that says something else than the journal,
	// which it reads whole, is made anew too. Before it changes anything it copies the run's
	// files to the folder backup, which must not exist, durably. It changes
	// no record: what is damaged or of a newer version is the error, as
	// Commit has it, and is left as it is, without a backup.
	Mend(ctx context.Context, backup string) (Mending, error)
	// Leftovers lists the temporary files, relative to the run's folder.
	// Those of writers at work are among them.
	Leftovers() ([]string, error)
	// Views lists the files of a folder of views beside the state, by name,
	// without temporary ones.
	Views(dir string) ([]string, error)
	// Written are the folder and the file that every commit writes to.
	Written() []string
}

// Mend implements Mender.
func (s *run[S, F, E]) Mend(ctx context.Context, backup string) (Mending, error) {
	var out Mending
	if err := s.straight(); err != nil {
		return out, err
	}
	warnings, err := s.locked(ctx, s.lock, func(held *locks.Held) (err error) {
		out, err = s.mendLocked(held, backup)
		return err
	})
	out.Warnings = append(out.Warnings, warnings...)
	return out, err
}

func (s *run[S, F, E]) mendLocked(held *locks.Held, backup string) (out Mending, err error) {
	j, err := s.openJournal(os.O_RDWR)
	if err != nil {
		return out, err
	}
	defer j.Close() // nothing is written in a close that a sync did not cover
	v, warnings := s.readView()
	l, err := s.load(j, v, warnings, true)
	if err != nil {
		return out, err
	}
	if l, err = s.refold(j, v, l); err != nil {
		return out, err
	}
	if out.Removed, err = s.Leftovers(); err != nil {
		return out, err
	}
	if err := s.same(held); err != nil {
		return Mending{}, err
	}
	if err := s.backup(backup); err != nil {
		return Mending{}, fmt.Errorf("the backup could not be made, nothing was changed: %w", err)
	}
	if out.Repaired = !l.clean; out.Repaired {
		out.Warnings, err = s.repair(j, held, l)
		return out, err
	}
	return out, durable.RemoveTemps(s.opts.Disk, s.dir)
}

// refold is a run as its whole journal has it. A view that is intact and says another
// state is not clean: every reader would begin with it. The view stays the witness of
// the journal's length.
func (s *run[S, F, E]) refold(j durable.File, v *view, l loaded[S]) (loaded[S], error) {
	whole := loaded[S]{state: s.machine.Zero(), pos: journal.Position{Run: s.id}, warnings: l.warnings}
	size, err := j.Size()
	if err != nil {
		return l, err
	}
	if err := s.fold(journal.NewReader(j, size, whole.pos, floorOf(v)), &whole); err != nil {
		return l, err
	}
	same, err := equal(whole.state, l.state)
	whole.clean = l.clean && same && whole.subject == l.subject
	return whole, err
}

// Leftovers implements Mender.
func (s *run[S, F, E]) Leftovers() ([]string, error) {
	var left []string
	err := s.walk("", func(name string) error {
		if durable.IsTemp(filepath.Base(name)) {
			left = append(left, name)
		}
		return nil
	})
	return left, err
}

// Views implements Mender.
func (s *run[S, F, E]) Views(dir string) ([]string, error) {
	path, err := s.beside(dir)
	if err != nil {
		return nil, err
	}
	return s.names(path)
}

// Written implements Mender.
func (s *run[S, F, E]) Written() []string { return []string{s.dir, s.journalPath()} }

// backup copies the run's files, all but the locks.
func (s *run[S, F, E]) backup(to string) error {
	d := s.opts.Disk
	if err := s.noLink(filepath.Dir(to)); err != nil {
		return err
	}
	if err := durable.MkdirAll(d, filepath.Dir(to), folderPerm); err != nil {
		return err
	}
	if err := d.Mkdir(to, folderPerm); err != nil {
		return err
	}
	err := s.walk("", func(name string) error {
		if name == viewName+lockSuffix || name == successorName+lockSuffix {
			return nil
		}
		data, err := durable.ReadFile(d, filepath.Join(s.dir, name), backupLimit)
		if err != nil {
			return err
		}
		dir := filepath.Dir(filepath.Join(to, name))
		if err := s.folders(to, dir, true); err != nil {
			return err
		}
		if err := durable.Create(d, filepath.Join(to, name), data, filePerm); err != nil {
			return err
		}
		return d.SyncDir(dir)
	})
	if err != nil {
		_ = d.RemoveAll(to) // half a backup would only deceive
		return err
	}
	return d.SyncDir(filepath.Dir(to))
}

// walk visits the files of the run's folder by their names in it.
func (s *run[S, F, E]) walk(dir string, visit func(name string) error) error {
	entries, err := s.opts.Disk.ReadDir(filepath.Join(s.dir, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = s.walk(name, visit)
		case e.Type().IsRegular():
			err = visit(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
