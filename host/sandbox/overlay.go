package sandbox

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// overlay is what lies over a mount: files that a report would publish, by their
// names in the mount, and with them the folders that lead to them. What a guest
// learns of it is no fact of the disk, so it is not noted: it comes with the
// report.
type overlay map[string][]byte

// at is what the overlay has at a name; nil where it has nothing.
func (o overlay) at(name string) fs.FileInfo {
	if data, ok := o[name]; ok {
		return staged{name: path.Base(name), size: int64(len(data))}
	}
	for file := range o {
		if name != "." && strings.HasPrefix(file, name+"/") {
			return staged{name: path.Base(name), mode: fs.ModeDir}
		}
	}
	return nil
}

// over adds to a folder's entries what the overlay has in it.
func (o overlay) over(folder string, entries []sys.Dirent) []sys.Dirent {
	all := slices.Clone(entries)
	for file := range o {
		rest := file
		if folder != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(file, folder+"/"); !ok {
				continue
			}
		}
		name, _, deeper := strings.Cut(rest, "/")
		if slices.ContainsFunc(all, func(e sys.Dirent) bool { return e.Name == name }) {
			continue
		}
		entry := sys.Dirent{Name: name}
		if deeper {
			entry.Type = fs.ModeDir
		}
		all = append(all, entry)
	}
	return all
}

// staged is the kind and size of what lies in an overlay.
type staged struct {
	name string
	size int64
	mode fs.FileMode
}

func (s staged) Name() string       { return s.name }
func (s staged) Size() int64        { return s.size }
func (s staged) Mode() fs.FileMode  { return s.mode }
func (s staged) ModTime() time.Time { return time.Time{} }
func (s staged) IsDir() bool        { return s.mode.IsDir() }
func (s staged) Sys() any           { return nil }

// lstat is what a guest finds at a name: a file of the overlay before the
// disk's, a folder of it where the disk has none.
func (v *view) lstat(name string) (fs.FileInfo, error) {
	if _, ok := v.over[name]; ok {
		return v.over.at(name), nil
	}
	info, err := v.root.Lstat(filepath.FromSlash(name))
	if err == nil {
		return info, nil
	}
	if over := v.over.at(name); over != nil {
		return over, nil
	}
	return nil, err
}

func isStaged(info fs.FileInfo) bool {
	_, ok := info.(staged)
	return ok
}
