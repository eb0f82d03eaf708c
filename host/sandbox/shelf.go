package sandbox

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/host/bundle"
)

// shelf is the plugin's own folder as the guest sees it at /plugin: the files of
// a bundle, from memory. What was hashed is what is read, whatever becomes of the
// folder, so that no fact need be kept of it.
type shelf struct {
	unchangeable
	files map[string][]byte
	dirs  map[string][]sys.Dirent // by name; "." is the folder itself
	desk  *desk
}

var _ sys.FS = (*shelf)(nil)

func newShelf(files []bundle.File, d *desk) *shelf {
	s := &shelf{files: map[string][]byte{}, dirs: map[string][]sys.Dirent{".": nil}, desk: d}
	for _, f := range files {
		s.files[f.Name] = f.Data
		s.list(f.Name, 0)
	}
	for _, entries := range s.dirs {
		slices.SortFunc(entries, func(a, b sys.Dirent) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

// list enters a name into its folder, and that into its own.
func (s *shelf) list(name string, kind fs.FileMode) {
	dir := path.Dir(name)
	_, known := s.dirs[dir]
	s.dirs[dir] = append(s.dirs[dir], sys.Dirent{Name: path.Base(name), Type: kind})
	if !known {
		s.list(dir, fs.ModeDir)
	}
}

// find gives what stands at a path. A file has nothing below it, also not "..".
func (s *shelf) find(name string) (at string, isDir bool, errno sys.Errno) {
	gate(s.desk.ctx)
	if len(name) > maxPath {
		return "", false, sys.ENAMETOOLONG
	}
	at, isDir = ".", true
	for part := range strings.SplitSeq(name, "/") {
		if !isDir {
			return "", false, sys.ENOTDIR
		}
		if part == ".." && at == "." {
			return "", false, sys.EPERM
		}
		at = path.Join(at, part)
		if _, isDir = s.dirs[at]; isDir {
			continue
		}
		if _, isFile := s.files[at]; !isFile {
			return "", false, sys.ENOENT
		}
	}
	return at, isDir, 0
}

func (s *shelf) OpenFile(name string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	at, isDir, errno := s.find(name)
	switch {
	case flag&writing != 0:
		return nil, sys.EROFS
	case errno != 0:
		return nil, errno
	case !isDir && flag&sys.O_DIRECTORY != 0:
		return nil, sys.ENOTDIR
	case s.desk.files <= 0:
		return nil, sys.EAGAIN
	}
	s.desk.files--
	if isDir {
		return &shelfDir{desk: s.desk, entries: s.dirs[at]}, 0
	}
	return &shelfFile{desk: s.desk, data: s.files[at]}, 0
}

func (s *shelf) Stat(name string) (wasys.Stat_t, sys.Errno) {
	at, isDir, errno := s.find(name)
	if errno != 0 {
		return wasys.Stat_t{}, errno
	}
	return shelfStat(isDir, len(s.files[at])), 0
}

func shelfStat(isDir bool, size int) wasys.Stat_t {
	if isDir {
		return wasys.Stat_t{Nlink: 1, Mode: fs.ModeDir | 0o555}
	}
	return wasys.Stat_t{Nlink: 1, Mode: 0o444, Size: int64(size)}
}

func (s *shelf) Lstat(name string) (wasys.Stat_t, sys.Errno) { return s.Stat(name) }

// Readlink finds no links: a bundle has none.
func (s *shelf) Readlink(name string) (string, sys.Errno) {
	if _, _, errno := s.find(name); errno != 0 {
		return "", errno
	}
	return "", sys.EINVAL
}
