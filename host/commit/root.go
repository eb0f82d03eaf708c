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
	d := f.opts.Disk
	for _, name := range []string{indexName, runsName} {
		if err := d.Mkdir(filepath.Join(f.root, name), folderPerm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	ignore := filepath.Join(f.root, ignoreName)
	if _, err := d.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := f.syncWay(); err != nil {
			return err
		}
		if err := durable.Replace(d, ignore, []byte("*\n"), filePerm); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return f.sweep()
}

// syncWay syncs the root and the folders above it. Folders that may not be
// read were not made by us.
func (f *Files[S, F, E]) syncWay() error {
	dir, err := filepath.Abs(f.root)
	if err != nil {
		return err
	}
	for {
		if err := f.opts.Disk.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}
