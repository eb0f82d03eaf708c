package commit

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// MakeRoot makes the folder that all state lies in, for who keeps something in it
// beside the runs. On return it is durable, and known as the state's by its .gitignore.
func MakeRoot(d durable.Disk, root string) error {
	if err := durable.MkdirAll(d, root, folderPerm); err != nil {
		return err
	}
	return syncRoot(d, root)
}

// makeRoot makes the folder that all state lies in, and it the owner's.
func (c *core[S, F, E]) makeRoot() error {
	if err := durable.MkdirAll(c.opts.Disk, c.root, folderPerm); err != nil {
		return err
	}
	return c.claim()
}

// prepareRoot makes what is missing in the root, under the index lock, and
// removes what dead starts left.
func (f *Files[S, F, E]) prepareRoot() error {
	for _, name := range []string{indexName, runsName} {
		if err := f.makeFolder(filepath.Join(f.root, name)); err != nil {
			return err
		}
	}
	if err := f.syncRoot(); err != nil {
		return err
	}
	return f.sweep()
}

// syncRoot makes the names of the folders in the root durable, before anything in
// them gets a name, and the root itself known as the state's by its .gitignore.
// Each time, since whoever made a folder may have died before the sync, and the
// next one finds it there:
//
//	somebody removes runs/; a start makes it anew       killed
//	the next start finds it, makes a run in it          acknowledged
//	the power fails: without this sync runs/ is gone
//
// The .gitignore comes last. While it is missing, so may be every name on the way
// to the root, and those are synced too.
func (c *core[S, F, E]) syncRoot() error { return syncRoot(c.opts.Disk, c.root) }

func syncRoot(d durable.Disk, root string) error {
	ignore := filepath.Join(root, ignoreName)
	switch _, err := d.Stat(ignore); {
	case err == nil:
		return d.SyncDir(root)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := syncWay(d, root); err != nil {
		return err
	}
	return durable.Replace(d, ignore, []byte("*\n"), filePerm)
}

// syncWay syncs a folder and those above it. Folders that may not be read were
// not made by us.
func syncWay(d durable.Disk, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for {
		if err := d.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}
