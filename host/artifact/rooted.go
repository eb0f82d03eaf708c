package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// rooted is a durable.Disk of one folder's tree. Every operation opens the
// folders on its way one inside the other and looks, at each, that it is the
// folder whose name it opened: a link, or one put there meanwhile, is refused.
// Stat tells of a link itself.
type rooted struct{ root string }

// Disk is the real disk below the folder root, an absolute path: what At takes
// where it is given none. Paths outside of root are refused.
func Disk(root string) durable.Disk { return &rooted{root: root} }

var _ durable.Disk = (*rooted)(nil)

// in opens the folder that path lies in and gives its name there.
func (d *rooted) in(path string, work func(folder *os.Root, base string) error) error {
	rel, err := filepath.Rel(d.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	at, err := os.OpenRoot(d.root)
	if err != nil {
		return err
	}
	defer func() { at.Close() }()
	parts := strings.Split(rel, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		next, err := enter(at, part)
		if err != nil {
			return err
		}
		at.Close()
		at = next
	}
	return work(at, parts[len(parts)-1])
}

// enter opens a folder that is no link.
func enter(at *os.Root, name string) (*os.Root, error) {
	seen, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	notFolder := &InTheWayError{Path: name, At: name, Why: "is " + durable.What(seen.Mode()) + ", not a folder"}
	if !seen.IsDir() {
		return nil, notFolder
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(seen, is) {
		next.Close()
		return nil, notFolder
	}
	return next, nil
}

func (d *rooted) OpenFile(path string, flag int, perm fs.FileMode) (file durable.File, err error) {
	err = d.in(path, func(at *os.Root, base string) error {
		f, err := at.OpenFile(base, flag|noWait, perm)
		if err != nil {
			return err
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			f.Close()
			return errors.Join(err, &InTheWayError{Path: base, At: base, Why: "is no file any more"})
		}
		if flag&os.O_CREATE != 0 {
			_ = f.Chmod(perm) // as asked for, whatever the umask: it takes another file's place
		}
		file = rootedFile{f}
		return nil
	})
	return file, err
}

func (d *rooted) Rename(oldpath, newpath string) error {
	return d.in(oldpath, func(at *os.Root, base string) error {
		return at.Rename(base, filepath.Base(newpath)) // in the same folder
	})
}

func (d *rooted) Link(oldpath, newpath string) error {
	return d.in(oldpath, func(at *os.Root, base string) error {
		return at.Link(base, filepath.Base(newpath)) // in the same folder
	})
}

func (d *rooted) Remove(path string) error {
	return d.in(path, func(at *os.Root, base string) error { return at.Remove(base) })
}

func (d *rooted) RemoveAll(path string) error {
	return d.in(path, func(at *os.Root, base string) error { return at.RemoveAll(base) })
}

func (d *rooted) Mkdir(path string, perm fs.FileMode) error {
	return d.in(path, func(at *os.Root, base string) error { return at.Mkdir(base, perm) })
}

func (d *rooted) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = d.folder(path, func(f *os.File) error {
		entries, err = f.ReadDir(-1)
		return err
	})
	return entries, err
}

func (d *rooted) Stat(path string) (info fs.FileInfo, err error) {
	err = d.in(path, func(at *os.Root, base string) error {
		info, err = at.Lstat(base)
		return err
	})
	return info, err
}

func (d *rooted) Lstat(path string) (fs.FileInfo, error) { return d.Stat(path) }

func (d *rooted) SyncDir(path string) error { return d.folder(path, syncFolder) }

// folder opens a folder itself.
func (d *rooted) folder(path string, work func(*os.File) error) error {
	return d.in(path, func(at *os.Root, base string) error {
		inside := at
		if base != "." {
			next, err := enter(at, base)
			if err != nil {
				return err
			}
			defer next.Close()
			inside = next
		}
		f, err := inside.Open(".")
		if err != nil {
			return err
		}
		defer f.Close()
		return work(f)
	})
}

// rootedFile is an open file as a durable.File.
type rootedFile struct{ *os.File }

// Size implements durable.File.
func (f rootedFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
