// Package scaffold writes the files of a new project: a configuration, a small
// mission type with its prompts and guards, and the folder of the missions. It
// promises to overwrite nothing, and to leave nothing behind where it does not
// come to the end.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/config"
)

// MissionType is the type that a new project defines.
const MissionType = "feature"

// specsReadme is left out where the folder of missions is there already.
const specsReadme = "kitty-specs/README.md"

//go:embed files
var files embed.FS

// ExistsError says what stands where a project's files would be written.
type ExistsError struct {
	Dir   string
	Paths []string // relative to Dir, with slashes
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s holds %s already; nothing was written", e.Dir, strings.Join(e.Paths, ", "))
}

// Write makes a project in a folder, which is made where it is missing, and
// gives the paths written, relative to it, with slashes. The error is an
// *ExistsError where a file would be overwritten. The configuration is written
// last: until it is there, the folder is no project.
func Write(dir string) (written []string, err error) {
	names, err := planned(dir)
	if err != nil {
		return nil, err
	}
	w := &writer{dir: dir}
	if err := w.all(names); err != nil {
		return nil, errors.Join(err, w.undo())
	}
	return names, nil
}

// planned lists what is to be written, the configuration last.
func planned(dir string) ([]string, error) {
	var names, taken []string
	err := fs.WalkDir(files, "files", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name = strings.TrimPrefix(name, "files/")
		if name == specsReadme && exists(filepath.Join(dir, path.Dir(name))) {
			return nil
		}
		if at := inTheWay(dir, name); at != "" && !slices.Contains(taken, at) {
			taken = append(taken, at)
		}
		names = append(names, name)
		return nil
	})
	if err == nil && len(taken) > 0 {
		err = &ExistsError{Dir: dir, Paths: taken}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case a == config.FileName:
			return 1
		case b == config.FileName:
			return -1
		}
		return strings.Compare(a, b)
	})
	return names, err
}

// inTheWay is what stands where a file, or a folder that it lies in, would be
// made; "" where nothing does.
func inTheWay(dir, name string) string {
	if exists(filepath.Join(dir, filepath.FromSlash(name))) {
		return name
	}
	for name = path.Dir(name); name != "."; name = path.Dir(name) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(at); exists(at) && (err != nil || !info.IsDir()) {
			return name
		}
	}
	return ""
}

// exists counts whatever is there, also a link to nothing.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writer remembers what it made, to take it back.
type writer struct {
	dir  string
	made []string
}

func (w *writer) all(names []string) error {
	for _, name := range names {
		data, err := fs.ReadFile(files, "files/"+name)
		if err != nil {
			return err
		}
		if err := w.file(filepath.Join(w.dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) file(path string, data []byte) error {
	if err := w.folder(filepath.Dir(path)); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w.made = append(w.made, path)
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

func (w *writer) folder(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := w.folder(parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		w.made = append(w.made, dir)
	}
	return err
}

// undo removes what was made, the newest first. A folder that somebody else
// put something into meanwhile stays.
func (w *writer) undo() error {
	var failed error
	for _, path := range slices.Backward(w.made) {
		if err := os.Remove(path); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
