package sandbox

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// A view is the guest's file system (experimental/sys.FS): every operation that
// would change something is refused as on a read-only disk.
var _ sys.FS = (*view)(nil)

const writing = sys.O_RDWR | sys.O_WRONLY | sys.O_APPEND | sys.O_CREAT | sys.O_EXCL | sys.O_TRUNC

func (v *view) OpenFile(name string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	gate(v.desk.ctx)
	if flag&writing != 0 {
		return nil, sys.EROFS
	}
	if v.desk.files <= 0 {
		return nil, sys.EAGAIN
	}
	real, info, errno := v.look(name, flag&sys.O_NOFOLLOW == 0)
	if errno != 0 {
		return nil, errno
	}
	switch {
	case info.IsDir():
		v.desk.files--
		return &dir{view: v, name: name, real: real}, 0
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, sys.ELOOP
	case flag&sys.O_DIRECTORY != 0:
		return nil, sys.ENOTDIR
	}
	if data, ok := v.over[real]; ok {
		v.desk.files--
		v.desk.bytes -= int64(len(data))
		return &file{view: v, name: name, info: info, data: data, read: true}, 0
	}
	f, info, errno := v.open(real)
	if errno != 0 {
		return nil, errno
	}
	v.desk.files--
	return &file{view: v, name: name, from: f, info: info}, 0
}

// look resolves a name and notes what the guest learns by it. Pipes, devices
// and sockets are not there.
func (v *view) look(name string, follow bool) (string, fs.FileInfo, sys.Errno) {
	if len(name) > maxPath {
		return "", nil, sys.ENAMETOOLONG
	}
	real, info, errno := v.resolve(name, follow)
	if errno == 0 && info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		errno = sys.ENOENT
	}
	switch {
	case errno == 0 && !isStaged(info):
		v.desk.note(statFact(v.path(name), info))
	case errno == sys.ENOENT:
		v.desk.note(Fact{Path: v.path(name), Kind: FactAbsent})
	}
	return real, info, errno
}

// path is the guest's path of a name.
func (v *view) path(name string) string { return path.Join(v.guest, name) }

// open opens a regular file. It looks at the kind again, since somebody may
// have put something else in its place.
func (v *view) open(real string) (*os.File, fs.FileInfo, sys.Errno) {
	f, err := v.root.OpenFile(filepath.FromSlash(real), os.O_RDONLY|readonly.NoWait, 0)
	if err != nil {
		return nil, nil, errnoOf(err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, sys.ENOENT
	}
	return f, info, 0
}

func (v *view) Stat(name string) (wasys.Stat_t, sys.Errno)  { return v.stat(name, true) }
func (v *view) Lstat(name string) (wasys.Stat_t, sys.Errno) { return v.stat(name, false) }

func (v *view) stat(name string, follow bool) (wasys.Stat_t, sys.Errno) {
	gate(v.desk.ctx)
	_, info, errno := v.look(name, follow)
	if errno != 0 {
		return wasys.Stat_t{}, errno
	}
	return plain(info), 0
}

// plain is a file's kind and size, without times, owner and number: they differ
// between two copies of the same tree.
func plain(info fs.FileInfo) wasys.Stat_t {
	st := wasys.Stat_t{Nlink: 1, Mode: info.Mode().Type() | 0o444}
	if info.IsDir() {
		st.Mode |= 0o111
	} else {
		st.Size = info.Size()
	}
	return st
}

func (v *view) Readlink(name string) (string, sys.Errno) {
	gate(v.desk.ctx)
	real, info, errno := v.look(name, false)
	if errno != 0 {
		return "", errno
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", sys.EINVAL
	}
	if _, _, errno := v.resolve(name, true); errno == sys.EPERM {
		return "", errno // its text would name what lies outside
	}
	target, errno := v.target(real)
	if errno == 0 {
		v.desk.note(Fact{v.path(name), FactLink, hexSum([]byte(target))})
	}
	return target, errno
}

// unchangeable is what all our file systems have in common.
type unchangeable struct{}

func (unchangeable) Mkdir(string, fs.FileMode) sys.Errno    { return sys.EROFS }
func (unchangeable) Chmod(string, fs.FileMode) sys.Errno    { return sys.EROFS }
func (unchangeable) Rename(string, string) sys.Errno        { return sys.EROFS }
func (unchangeable) Rmdir(string) sys.Errno                 { return sys.EROFS }
func (unchangeable) Unlink(string) sys.Errno                { return sys.EROFS }
func (unchangeable) Link(string, string) sys.Errno          { return sys.EROFS }
func (unchangeable) Symlink(string, string) sys.Errno       { return sys.EROFS }
func (unchangeable) Utimens(string, int64, int64) sys.Errno { return sys.EROFS }

// offset has a name of its own since vet holds every Seek on int64 to io.Seeker,
// and wazero's returns its own errors.
type offset = int64

// readOnly is what a file and a folder have in common.
type readOnly struct{}

func (readOnly) Dev() (uint64, sys.Errno)              { return 0, 0 }
func (readOnly) Ino() (wasys.Inode, sys.Errno)         { return 0, 0 }
func (readOnly) IsAppend() bool                        { return false }
func (readOnly) SetAppend(bool) sys.Errno              { return sys.EROFS }
func (readOnly) Write([]byte) (int, sys.Errno)         { return 0, sys.EROFS }
func (readOnly) Pwrite([]byte, int64) (int, sys.Errno) { return 0, sys.EROFS }
func (readOnly) Truncate(int64) sys.Errno              { return sys.EROFS }
func (readOnly) Sync() sys.Errno                       { return 0 }
func (readOnly) Datasync() sys.Errno                   { return 0 }
func (readOnly) Utimens(int64, int64) sys.Errno        { return sys.EROFS }
