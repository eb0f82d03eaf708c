package commit

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// makeRoot makes the folder that the index lock lies in.
func (f *Files[S, F, E]) makeRoot() error {
	return durable.MkdirAll(f.opts.Disk, f.root, folderPerm)
}

// prepareRoot makes what is missing in the root, under the index lock, and
// removes what dead starts left.
//
// The .gitignore comes last. While it is missing, every name on the way to the
// root is made durable: a process may have died between making a folder and
// syncing its name, and the next one finds the folder there.
func (f *Files[S, F, E]) prepareRoot() error {
	for _, name := range []string{indexName, runsName} {
		if err := f.makeFolder(filepath.Join(f.root, name)); err != nil {
			return err
		}
	}
	if err := f.ignoreIn(f.root); err != nil {
		return err
	}
	return f.sweep()
}

// ignoreIn writes the .gitignore of the folder that all state lies in.
func (c *core[S, F, E]) ignoreIn(dir string) error {
	ignore := filepath.Join(dir, ignoreName)
	_, err := c.opts.Disk.Stat(ignore)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.syncWay(dir); err != nil {
		return err
	}
	return durable.Replace(c.opts.Disk, ignore, []byte("*\n"), filePerm)
}

// syncWay syncs a folder and those above it. Folders that may not be read were
// not made by us.
func (c *core[S, F, E]) syncWay(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for {
		if err := c.opts.Disk.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}
