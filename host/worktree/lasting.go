package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Git does not wait until a loose object is on the disk: after a power failure a
// commit may be gone that our books call landed. So what a landing stands on is made
// to last here, whatever program wrote it and however git is set up: the objects of
// the result when it is kept, the ref when it was moved. Packs git syncs itself.

// lastingRefs has git make a moved ref last, also where refs are no files of their own.
func lastingRefs() []string {
	return []string{"-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"}
}

// UnsyncedError says that git did as it was told, and that the disk did not say that
// it lasts. The same call may be made again.
type UnsyncedError struct {
	What string
	Err  error
}

func (e *UnsyncedError) Error() string {
	return fmt.Sprintf("%s is there, and may not outlast a power failure: %v", e.What, e.Err)
}

func (e *UnsyncedError) Unwrap() error { return e.Err }

func (r Repo) disk() durable.Disk {
	if r.Disk == nil {
		return durable.OS()
	}
	return r.Disk
}

// objectsLast syncs the objects that a commit has and another one has not.
func (r Repo) objectsLast(ctx context.Context, commit, without string) error {
	out, err := r.git(ctx, r.Root, "rev-list", "--objects", "--no-object-names", commit, "^"+without)
	if err != nil {
		return err
	}
	dir, err := r.common()
	if err != nil {
		return err
	}
	objects := filepath.Join(dir, "objects")
	folders := map[string]bool{objects: true}
	for entry := range bytes.Lines(out) {
		id := strings.TrimSpace(string(entry))
		folder := filepath.Join(objects, id[:2])
		switch err := r.syncFile(filepath.Join(folder, id[2:])); {
		case errors.Is(err, fs.ErrNotExist):
			folders[filepath.Join(objects, "pack")] = true
		case err != nil:
			return &UnsyncedError{"object " + id, err}
		default:
			folders[folder] = true
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for folder := range folders {
		if err := r.disk().SyncDir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &UnsyncedError{folder, err}
		}
	}
	return nil
}

// refLasts syncs the file of a ref, its name, and those of the folders above it.
func (r Repo) refLasts(ref string) error {
	dir, err := r.common()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, filepath.FromSlash(ref))
	switch err := r.syncFile(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil // packed, or kept in another way: git has seen to it
	case err != nil:
		return &UnsyncedError{ref, err}
	}
	for path != dir {
		path = filepath.Dir(path)
		if err := r.disk().SyncDir(path); err != nil {
			return &UnsyncedError{ref, err}
		}
	}
	return nil
}

func (r Repo) syncFile(path string) error {
	if gitSyncs {
		return nil
	}
	f, err := r.disk().OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
