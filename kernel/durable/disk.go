// Package durable writes files so that a crash leaves the old content or the
// new, and keeps all access to the disk behind one small interface with a real
// implementation, one in memory that can crash, and one that injects faults.
package durable

import (
	"io"
	"io/fs"
)

// Disk is what the step runner asks of a file system. Paths are the operating
// system's. Implementations may be used concurrently.
type Disk interface {
	// OpenFile is os.OpenFile; the file has no position of its own. It never
	// waits, and what is no regular file is a *NotRegularError. So is a link as
	// the last name of the path: nothing is read or written where it leads.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// Rename replaces the target if it exists. Not durable before SyncDir.
	Rename(oldpath, newpath string) error
	// Link gives a file a second name in the same folder. Where something has that
	// name it is fs.ErrExist, and nothing is replaced. Not durable before SyncDir.
	Link(oldpath, newpath string) error
	Remove(path string) error
	RemoveAll(path string) error
	Mkdir(path string, perm fs.FileMode) error
	// ReadDir gives the entries by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	Stat(path string) (fs.FileInfo, error)
	// Lstat is Stat, of a link itself.
	Lstat(path string) (fs.FileInfo, error)
	// SyncDir makes the entries of a folder durable, not their content.
	SyncDir(path string) error
}

// File is an open file that is read and written at offsets.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size is the present length in bytes.
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes content and length durable, not the file's name. After an
	// error nothing is known of what was written since the last success, and a
	// later Sync proves nothing for it: write the bytes again first.
	Sync() error
}
