package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// dir is an open folder. It lists files, folders and links that may be seen, by
// name, so that the order tells nothing of the disk.
type dir struct {
	readOnly
	view    *view
	name    string
	real    string
	entries []sys.Dirent
	listed  bool
	closed  bool
	at      int
}

func (d *dir) IsDir() (bool, sys.Errno) { return true, 0 }

func (d *dir) Stat() (wasys.Stat_t, sys.Errno) {
	return wasys.Stat_t{Nlink: 1, Mode: fs.ModeDir | 0o555}, 0
}

func (d *dir) Read([]byte) (int, sys.Errno)         { return 0, sys.EISDIR }
func (d *dir) Pread([]byte, int64) (int, sys.Errno) { return 0, sys.EISDIR }

// Seek can only begin again.
func (d *dir) Seek(to offset, whence int) (int64, sys.Errno) {
	if to != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	d.at = 0
	return 0, 0
}

func (d *dir) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	gate(d.view.desk.ctx)
	if !d.listed {
		entries, errno := d.view.list(d.name, d.real)
		if errno != 0 {
			return nil, errno
		}
		d.entries, d.listed = entries, true
	}
	rest := d.entries[min(d.at, len(d.entries)):]
	if n > 0 && n < len(rest) {
		rest = rest[:n]
	}
	d.at += len(rest)
	return slices.Clone(rest), 0
}

func (d *dir) Close() sys.Errno {
	if !d.closed {
		d.closed = true
		d.view.desk.files++
	}
	return 0
}

// list reads a folder and notes it.
func (v *view) list(name, real string) ([]sys.Dirent, sys.Errno) {
	f, err := v.root.OpenFile(filepath.FromSlash(real), os.O_RDONLY|readonly.NoWait, 0)
	if errors.Is(err, fs.ErrNotExist) && v.over.at(real) != nil {
		return v.sorted(real, nil), 0
	}
	if err != nil {
		return nil, errnoOf(err)
	}
	defer f.Close()
	all, err := f.ReadDir(maxDirEntries + 1)
	if err != nil && err != io.EOF {
		return nil, sys.EIO
	}
	if len(all) > maxDirEntries {
		v.desk.explain("%q is too large for a plugin: a folder may have %d entries", v.path(name), maxDirEntries)
		return nil, sys.EIO
	}
	var entries []sys.Dirent
	for _, e := range all {
		if kind := e.Type(); v.shows(path.Join(real, e.Name()), kind) {
			entries = append(entries, sys.Dirent{Name: e.Name(), Type: kind})
		}
	}
	entries = byName(entries)
	v.desk.note(Fact{v.path(name), FactDir, listSum(entries)})
	return v.sorted(real, entries), 0
}

// sorted are a folder's entries with those of the overlay that may be seen.
func (v *view) sorted(real string, entries []sys.Dirent) []sys.Dirent {
	all := slices.DeleteFunc(v.over.over(real, entries), func(e sys.Dirent) bool {
		return !v.shows(path.Join(real, e.Name), e.Type)
	})
	return byName(all)
}

func byName(entries []sys.Dirent) []sys.Dirent {
	slices.SortFunc(entries, func(a, b sys.Dirent) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

func (v *view) shows(name string, kind fs.FileMode) bool {
	switch kind {
	case 0:
		return v.granted(name)
	case fs.ModeDir, fs.ModeSymlink:
		return v.granted(name) || v.leads(name)
	default:
		return false
	}
}

func listSum(entries []sys.Dirent) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name + "\x00" + e.Type.String() + "\x00")
	}
	return hexSum([]byte(b.String()))
}
