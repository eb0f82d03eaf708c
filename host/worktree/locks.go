package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// unlockAll removes git's lock files in a folder of its own: of the index, of HEAD, of
// the refs and the settings that no other worktree shares.
func unlockAll(dir string) error {
	return filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "objects": // of a submodule: many, and locks are none
			return fs.SkipDir
		case entry.Type().IsRegular() && strings.HasSuffix(at, ".lock"):
			if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// LockedError says that a git's lock file keeps a ref from being moved, and that it may
// not be taken for one that a dead git left.
type LockedError struct{ Ref, Path, Why string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is locked by %s, and %s: once no git is at work in this repository, %s", e.Ref, e.Path, e.Why, RemoveBy(e.Path))
}

// RemoveBy is the call with which a person removes a file.
func RemoveBy(path string) string { return "`rm '" + strings.ReplaceAll(path, "'", `'\''`) + "'`" }

// How long a lock of a dead git is watched: it is one when it was the same for all of
// quiet, with no git at work in the repository then. Other programs than git hold such
// a lock for an instant.
const (
	quiet    = time.Second
	maxWatch = 2 * time.Second
	lookEach = 50 * time.Millisecond
)

// Lock is the lock file of a branch; "" for none. It reads no more than names of files.
func (r Repo) Lock(branch string) string {
	path, info := r.lock(branchRef(branch))
	if info == nil {
		return ""
	}
	return path
}

func (r Repo) lock(ref string) (path string, info fs.FileInfo) {
	dir, err := r.common()
	if err != nil {
		return "", nil
	}
	path = filepath.Join(dir, filepath.FromSlash(ref)+".lock")
	info, _ = os.Lstat(path)
	return path, info
}

// Unlock removes the lock file of a branch that a git left which was killed in a move of
// it: nobody else moves the loop's branch, and while the file is there no other git can
// take the lock. *LockedError where a git of this machine is at work in the repository,
// or that cannot be told. It may take some seconds where there is such a file.
func (r Repo) Unlock(ctx context.Context, branch string) error {
	return r.unlock(ctx, branchRef(branch))
}

func (r Repo) unlock(ctx context.Context, ref string) error {
	path, seen := r.lock(ref)
	if seen == nil {
		return nil
	}
	folders, err := r.folders(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	since := began
	for {
		why := gitAt(folders)
		now, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &LockedError{ref, path, err.Error()}
		case !os.SameFile(seen, now) || !seen.ModTime().Equal(now.ModTime()):
			seen, since = now, time.Now()
		case !now.Mode().IsRegular():
			return &LockedError{ref, path, "is no file"}
		case why == "" && time.Since(since) >= quiet:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &LockedError{ref, path, err.Error()}
			}
			return nil
		case !Unlocks || time.Since(began) > maxWatch:
			return &LockedError{ref, path, cmp.Or(why, "it changes all the time")}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEach):
		}
	}
}

// folders are those that a git which moves refs of this repository may work in.
func (r Repo) folders(ctx context.Context) ([]string, error) {
	dir, err := r.common()
	if err != nil {
		return nil, err
	}
	all, err := r.list(ctx)
	folders := []string{settled(dir), settled(r.Root)}
	for _, one := range all {
		folders = append(folders, settled(one.path))
	}
	return folders, err
}
