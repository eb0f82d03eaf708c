package guest

import (
	"io/fs"
	"path/filepath"
)

// Files are the regular files in a folder and below it, as absolute paths in the
// order of their names. A folder that was not granted is one that does not exist.
func Files(folder string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	return all, err
}
