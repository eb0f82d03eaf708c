package durable

import (
	"io/fs"
	"os"
)

// OS is the operating system's file system.
func OS() Disk { return osDisk{} }

type osDisk struct{}

func (osDisk) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := openRegular(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osDisk) Rename(oldpath, newpath string) error       { return rename(oldpath, newpath) }
func (osDisk) Link(oldpath, newpath string) error         { return os.Link(oldpath, newpath) }
func (osDisk) Remove(path string) error                   { return os.Remove(path) }
func (osDisk) RemoveAll(path string) error                { return os.RemoveAll(path) }
func (osDisk) Mkdir(path string, perm fs.FileMode) error  { return os.Mkdir(path, perm) }
func (osDisk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }
func (osDisk) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (osDisk) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (osDisk) SyncDir(path string) error                  { return syncDir(path) }

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
