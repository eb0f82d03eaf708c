package commit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// blob is a frozen file with its size as it was when it was opened.
type blob struct {
	durable.File
	size int64
}

func (b blob) Size() int64 { return b.size }

// Blob implements Store.
func (s *run[S, F, E]) Blob(name string) (Blob, error) {
	path, err := s.beside(name)
	if err != nil {
		return nil, err
	}
	if dir := filepath.Dir(path); dir != s.dir {
		if err := s.noLink(dir); err != nil {
			return nil, err
		}
	}
	f, err := s.opts.Disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, notAFile(err, path)
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return blob{f, size}, nil
}

// PutBlob implements Store.
func (s *run[S, F, E]) PutBlob(name string, data []byte) error {
	return s.put(name, data, durable.ReplaceFrom, true)
}

// Publish implements Store.
func (s *run[S, F, E]) Publish(name string, data []byte) (string, error) {
	if err := s.put(name, data, durable.PublishFrom, false); err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(s.dir, filepath.FromSlash(name)))
}

// Locate implements Store.
func (s *run[S, F, E]) Locate(name string) (string, bool) {
	b, err := s.Blob(name)
	if err != nil {
		return "", false
	}
	defer b.Close()
	path, err := filepath.Abs(filepath.Join(s.dir, filepath.FromSlash(name)))
	return path, err == nil && b.Size() > 0
}

type writer func(d durable.Disk, temps, path string, data []byte, perm fs.FileMode) error

// put writes a file and makes its folders inside of the run's folder, which is
// itself never made anew; none of them is a link. The temporary file lies in the run's folder, which has
// few files, not among the prompts, of which there may be thousands: there each
// commit finds what dead writers left.
func (s *run[S, F, E]) put(name string, data []byte, write writer, sync bool) error {
	path, err := s.beside(name)
	if err != nil {
		return err
	}
	if err := s.straight(); err != nil {
		return err
	}
	if dir := filepath.Dir(path); dir != s.dir {
		if err := s.folders(s.dir, dir, sync); err != nil {
			return err
		}
	}
	return write(s.opts.Disk, s.dir, path, data, filePerm)
}

// folders makes the folders from base, which exists, down to dir. With sync
// their names are durable.
func (c *core[S, F, E]) folders(base, dir string, sync bool) error {
	if dir == base {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := c.folders(base, parent, sync); err != nil {
		return err
	}
	if err := c.makeFolder(dir); err != nil {
		return err
	}
	if sync {
		return c.opts.Disk.SyncDir(parent)
	}
	return nil
}

// makeFolder makes a folder, or leaves the one that is there; a link is none.
func (c *core[S, F, E]) makeFolder(dir string) error {
	err := c.opts.Disk.Mkdir(dir, folderPerm)
	if errors.Is(err, fs.ErrExist) {
		return c.noLink(dir)
	}
	return err
}
