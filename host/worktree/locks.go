package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
