package durable

import (
	"errors"
	"io/fs"
	"sync"
)

// ErrInjected is the fault that Faulty injects if it is given no other.
var ErrInjected = errors.New("injected fault")

// Op is an operation on a disk or on a file of it.
type Op struct {
	Kind string // "open", "rename", "link", "remove", "mkdir", "readdir", "stat", "lstat", "syncdir", "read", "write", "size", "truncate", "sync", "close"
	Path string
}

// Faulty passes everything on to another disk, counts, and lets operation n
// fail. Set its fields before use. It may be used concurrently.
type Faulty struct {
	Disk Disk

	// Fail decides for each operation, numbered from 0, whether it fails: nil
	// lets it pass. A write that fails has written Short bytes before; a sync
	// that fails loses what it should have made durable.
	Fail func(n int, op Op) error
	// Before is called before each operation; nil: not at all.
	Before func(n int, op Op)
	Short  int

	mu    sync.Mutex
	count int
	kinds map[string]int
}

// Count is the number of operations so far.
func (d *Faulty) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// Kind is the number of operations of one kind so far; "" names none.
func (d *Faulty) Kind(kind string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kinds[kind]
}

// Reset sets all counts to zero.
func (d *Faulty) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count, d.kinds = 0, nil
}

// FailAt lets operation n fail, once.
func FailAt(n int) func(int, Op) error {
	return func(i int, _ Op) error {
		if i == n {
			return ErrInjected
		}
		return nil
	}
}

func (d *Faulty) step(kind, path string) error {
	op := Op{kind, path}
	d.mu.Lock()
	n := d.count
	d.count++
	if d.kinds == nil {
		d.kinds = map[string]int{}
	}
	d.kinds[kind]++
	d.mu.Unlock()
	if d.Before != nil {
		d.Before(n, op)
	}
	if d.Fail == nil {
		return nil
	}
	if err := d.Fail(n, op); err != nil {
		return &fs.PathError{Op: kind, Path: path, Err: err}
	}
	return nil
}

// OpenFile implements Disk.
func (d *Faulty) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	if err := d.step("open", path); err != nil {
		return nil, err
	}
	f, err := d.Disk.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{d, path, f}, nil
}

// Rename implements Disk.
func (d *Faulty) Rename(oldpath, newpath string) error {
	if err := d.step("rename", newpath); err != nil {
		return err
	}
	return d.Disk.Rename(oldpath, newpath)
}

// Link implements Disk.
func (d *Faulty) Link(oldpath, newpath string) error {
	if err := d.step("link", newpath); err != nil {
		return err
	}
	return d.Disk.Link(oldpath, newpath)
}

// Remove implements Disk.
func (d *Faulty) Remove(path string) error {
	if err := d.step("remove", path); err != nil {
		return err
	}
	return d.Disk.Remove(path)
}

// RemoveAll implements Disk.
func (d *Faulty) RemoveAll(path string) error {
	if err := d.step("remove", path); err != nil {
		return err
	}
	return d.Disk.RemoveAll(path)
}

// Mkdir implements Disk.
func (d *Faulty) Mkdir(path string, perm fs.FileMode) error {
	if err := d.step("mkdir", path); err != nil {
		return err
	}
	return d.Disk.Mkdir(path, perm)
}

// ReadDir implements Disk.
func (d *Faulty) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := d.step("readdir", path); err != nil {
		return nil, err
	}
	return d.Disk.ReadDir(path)
}

// Stat implements Disk.
func (d *Faulty) Stat(path string) (fs.FileInfo, error) {
	if err := d.step("stat", path); err != nil {
		return nil, err
	}
	return d.Disk.Stat(path)
}

// Lstat implements Disk.
func (d *Faulty) Lstat(path string) (fs.FileInfo, error) {
	if err := d.step("lstat", path); err != nil {
		return nil, err
	}
	return d.Disk.Lstat(path)
}

// SyncDir implements Disk.
func (d *Faulty) SyncDir(path string) error {
	if err := d.step("syncdir", path); err != nil {
		return err
	}
	return d.Disk.SyncDir(path)
}

type faultyFile struct {
	d    *Faulty
	path string
	f    File
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.step("read", f.path); err != nil {
		return 0, err
	}
	return f.f.ReadAt(p, off)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.step("write", f.path); err != nil {
		n, werr := f.f.WriteAt(p[:min(f.d.Short, len(p))], off)
		return n, errors.Join(err, werr)
	}
	return f.f.WriteAt(p, off)
}

func (f *faultyFile) Size() (int64, error) {
	if err := f.d.step("size", f.path); err != nil {
		return 0, err
	}
	return f.f.Size()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.d.step("truncate", f.path); err != nil {
		return err
	}
	return f.f.Truncate(size)
}

func (f *faultyFile) Sync() error {
	if err := f.d.step("sync", f.path); err != nil {
		if m, ok := f.f.(interface{ loseUnsynced() }); ok {
			m.loseUnsynced()
		}
		return err
	}
	return f.f.Sync()
}

func (f *faultyFile) Close() error {
	err := f.d.step("close", f.path)
	return errors.Join(err, f.f.Close())
}
