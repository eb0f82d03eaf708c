package sandbox

import (
	"io"
	"slices"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"
)

// shelfFile is an open file of a shelf.
type shelfFile struct {
	readOnly
	desk   *desk
	data   []byte
	at     int64
	closed bool
}

func (f *shelfFile) IsDir() (bool, sys.Errno)              { return false, 0 }
func (f *shelfFile) Stat() (wasys.Stat_t, sys.Errno)       { return shelfStat(false, len(f.data)), 0 }
func (f *shelfFile) Readdir(int) ([]sys.Dirent, sys.Errno) { return nil, sys.ENOTDIR }
func (f *shelfFile) Close() sys.Errno                      { return giveBack(f.desk, &f.closed) }

func (f *shelfFile) Read(p []byte) (int, sys.Errno) {
	n, errno := f.Pread(p, f.at)
	f.at += int64(n)
	return n, errno
}

func (f *shelfFile) Pread(p []byte, off int64) (int, sys.Errno) {
	gate(f.desk.ctx)
	if off < 0 {
		return 0, sys.EINVAL
	}
	return copy(p, f.data[min(off, int64(len(f.data))):]), 0
}

func (f *shelfFile) Seek(to offset, whence int) (int64, sys.Errno) {
	from := map[int]int64{io.SeekStart: 0, io.SeekCurrent: f.at, io.SeekEnd: int64(len(f.data))}
	base, ok := from[whence]
	if !ok || to < -base || base+to < 0 {
		return 0, sys.EINVAL
	}
	f.at = base + to
	return f.at, 0
}

// shelfDir is an open folder of a shelf.
type shelfDir struct {
	readOnly
	desk    *desk
	entries []sys.Dirent
	at      int
	closed  bool
}

func (d *shelfDir) IsDir() (bool, sys.Errno)             { return true, 0 }
func (d *shelfDir) Stat() (wasys.Stat_t, sys.Errno)      { return shelfStat(true, 0), 0 }
func (d *shelfDir) Read([]byte) (int, sys.Errno)         { return 0, sys.EISDIR }
func (d *shelfDir) Pread([]byte, int64) (int, sys.Errno) { return 0, sys.EISDIR }
func (d *shelfDir) Close() sys.Errno                     { return giveBack(d.desk, &d.closed) }

// Seek can only begin again.
func (d *shelfDir) Seek(to offset, whence int) (int64, sys.Errno) {
	if to != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	d.at = 0
	return 0, 0
}

func (d *shelfDir) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	gate(d.desk.ctx)
	rest := d.entries[d.at:]
	if n > 0 && n < len(rest) {
		rest = rest[:n]
	}
	d.at += len(rest)
	return slices.Clone(rest), 0
}

// giveBack counts a descriptor as free, once.
func giveBack(d *desk, closed *bool) sys.Errno {
	if !*closed {
		*closed = true
		d.files++
	}
	return 0
}
