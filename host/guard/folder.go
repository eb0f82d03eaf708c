package guard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// sizeLimit is as much of an artifact as a guard reads: 16 MiB.
const sizeLimit = mission.MaxArtifact

// Folder is a mission's folder as guards see it: what lies on disk, with staged
// artifacts laid over it. The zero Folder is empty.
type Folder struct {
	// Dir is the folder's path. One that is not there holds nothing.
	Dir string
	// Staged are artifacts that a report would publish, by their path in the
	// folder, with forward slashes.
	Staged map[string][]byte
}

// open gives a root to read from; nil where the folder is not there.
func (f Folder) open() (*os.Root, error) {
	if f.Dir == "" {
		return nil, nil
	}
	root, err := readonly.Folder(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

// read reads one artifact. root may be nil.
func (f Folder) read(root *os.Root, name string) ([]byte, error) {
	if data, ok := f.Staged[name]; ok {
		return data, nil
	}
	if root == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	data, _, err := readonly.File(root, name, sizeLimit)
	return data, err
}

// withStaged adds the staged names that fit a pattern to those on disk, sorted.
func (f Folder) withStaged(names []string, pattern string) ([]string, error) {
	all := slices.Clone(names)
	for name := range f.Staged {
		fits, err := path.Match(pattern, name)
		if err != nil {
			return nil, err
		}
		if fits && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all, nil
}

// onDisk walks the folders that a pattern's parts name. Links are listed by name
// and followed only inside the folder; what is no file is listed too, so that the
// guard can say so.
func onDisk(root *os.Root, pattern string) ([]string, error) {
	if root == nil {
		return nil, nil
	}
	names := []string{"."}
	for _, part := range strings.Split(pattern, "/") {
		var next []string
		for _, folder := range names {
			found, err := fitting(root, folder, part)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		names = next
	}
	slices.Sort(names)
	return names, nil
}

func fitting(root *os.Root, folder, part string) ([]string, error) {
	entries, err := list(root, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		fits, err := path.Match(part, entry)
		if err != nil {
			return nil, err
		}
		// As in a shell, * does not mean hidden files.
		if hidden := strings.HasPrefix(entry, ".") && !strings.HasPrefix(part, "."); fits && !hidden {
			names = append(names, path.Join(folder, entry))
		}
	}
	return names, nil
}

// list reads the names in a folder; what is no folder, or is not there, has none.
func list(root *os.Root, folder string) ([]string, error) {
	info, err := root.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: folder, Err: err}
	}
	f, err := root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// isGlob tells a pattern from a path.
func isGlob(name string) bool { return strings.ContainsAny(name, "*?[") }

// BadPath says why a text cannot be an artifact's path or pattern; "" for one
// that can: relative, with forward slashes, inside the mission's folder.
func BadPath(name string) string {
	switch {
	case name == "":
		return "the path is empty"
	case strings.Contains(name, `\`):
		return `write the path with forward slashes, without \`
	case strings.ContainsRune(name, 0):
		return "the path has a zero byte"
	case path.IsAbs(name), filepath.IsAbs(name):
		return "the path is absolute: give it relative to the mission's folder"
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "the path has .. in it: artifacts lie in the mission's folder"
	case path.Clean(name) == ".":
		return "the path is the mission's folder itself"
	case slices.Contains(strings.Split(name, "/"), "**"):
		return "** is not known: name each folder, as in docs/*/*.md"
	case !isGlob(name) && !filepath.IsLocal(filepath.FromSlash(name)):
		return "the path is not usable on this system"
	}
	if _, err := path.Match(name, ""); err != nil {
		return "the pattern is not well formed: a [ without its ]"
	}
	return ""
}
