package sandbox

import (
	"io"
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// file is an open regular file. Its content is read as a whole at the first
// read: what is noted as read is then exactly what the guest was given, however
// the file changes meanwhile.
type file struct {
	readOnly
	view *view
	name string
	from *os.File // until the content is read
	info fs.FileInfo
	data []byte
	read bool
	at   int64
}

func (f *file) IsDir() (bool, sys.Errno) { return false, 0 }

func (f *file) Stat() (wasys.Stat_t, sys.Errno) {
	st := plain(f.info)
	if f.read {
		st.Size = int64(len(f.data))
	}
	return st, 0
}

func (f *file) Readdir(int) ([]sys.Dirent, sys.Errno) { return nil, sys.ENOTDIR }

func (f *file) Read(p []byte) (int, sys.Errno) {
	n, errno := f.Pread(p, f.at)
	f.at += int64(n)
	return n, errno
}

func (f *file) Pread(p []byte, off int64) (int, sys.Errno) {
	gate(f.view.desk.ctx)
	if errno := f.load(); errno != 0 {
		return 0, errno
	}
	if off < 0 {
		return 0, sys.EINVAL
	}
	if off >= int64(len(f.data)) {
		return 0, 0
	}
	return copy(p, f.data[off:]), 0
}

func (f *file) Seek(to offset, whence int) (int64, sys.Errno) {
	st, _ := f.Stat()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		to += f.at
	case io.SeekEnd:
		to += st.Size
	default:
		return 0, sys.EINVAL
	}
	if to < 0 {
		return 0, sys.EINVAL
	}
	f.at = to
	return to, 0
}

func (f *file) load() sys.Errno {
	if f.read {
		return 0
	}
	if f.from == nil {
		return sys.EBADF
	}
	d := f.view.desk
	most := min(d.bytes, d.unread)
	data, fits, err := readonly.AtMost(f.from, f.info.Size(), most)
	if err != nil {
		return sys.EIO
	}
	if !fits {
		d.explain("%q is too large for a plugin: a call may read %d MiB in all", f.view.path(f.name), maxReadBytes>>20)
		return sys.EIO
	}
	d.note(Fact{f.view.path(f.name), FactFile, hexSum(data)})
	d.bytes -= int64(len(data))
	d.unread -= int64(len(data))
	_ = f.from.Close()
	f.from, f.data, f.read = nil, data, true
	return 0
}

func (f *file) Close() sys.Errno {
	if !f.read && f.from == nil {
		return 0
	}
	f.view.desk.files++
	f.view.desk.bytes += int64(len(f.data))
	if f.from != nil {
		_ = f.from.Close()
	}
	f.from, f.data, f.read = nil, nil, false
	return 0
}
