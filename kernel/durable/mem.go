package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Mem is a disk in memory that knows what was synced, so that it can lose
// power. It models docs/crash-model.md: content is durable after a Sync of the
// file, names after a SyncDir of the folder, and of the rest any subset
// survives. A rename is within one folder. Opening read-only is not enforced.
type Mem struct {
	mu   sync.Mutex
	root *memNode
}

// NewMem is an empty disk: a root folder "/".
func NewMem() *Mem { return &Mem{root: newMemDir()} }

// memNode is a file or a folder, whatever names lead to it.
type memNode struct {
	perm fs.FileMode

	// A file: what is surely on the disk, what programs see, and the changes
	// from the first to the second in order.
	disk, cache []byte
	changes     []change

	// A folder: the same for its names.
	diskNames, names map[string]*memNode
	moves            []move
}

// move is one atomic change of a folder's names.
type move struct {
	remove string   // "" for none
	set    string   // "" for none
	node   *memNode // what set leads to
}

func newMemDir() *memNode {
	return &memNode{perm: fs.ModeDir | 0o755, diskNames: map[string]*memNode{}, names: map[string]*memNode{}}
}

func (n *memNode) isDir() bool { return n.names != nil }

func (n *memNode) apply(m move) {
	applyMove(n.names, m)
	n.moves = append(n.moves, m)
}

func applyMove(names map[string]*memNode, m move) {
	if m.remove != "" {
		delete(names, m.remove)
	}
	if m.set != "" {
		names[m.set] = m.node
	}
}

// find walks to a node; the caller holds mu.
func (d *Mem) find(path string) (*memNode, error) {
	clean := filepath.Clean(path)
	if clean == string(filepath.Separator) || clean == "." {
		return d.root, nil
	}
	dir, err := d.find(filepath.Dir(clean))
	if err != nil {
		return nil, err
	}
	if n, ok := dir.names[filepath.Base(clean)]; ok {
		return n, nil
	}
	return nil, fs.ErrNotExist
}

// at is find for an operation on the last name of a path: its folder, the
// name, and the node or nil.
func (d *Mem) at(op, path string) (dir *memNode, name string, node *memNode, err error) {
	clean := filepath.Clean(path)
	dir, err = d.find(filepath.Dir(clean))
	if err != nil {
		return nil, "", nil, &fs.PathError{Op: op, Path: path, Err: err}
	}
	if !dir.isDir() {
		return nil, "", nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrInvalid}
	}
	name = filepath.Base(clean)
	return dir, name, dir.names[name], nil
}

// OpenFile implements Disk.
func (d *Mem) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, node, err := d.at("open", path)
	switch {
	case err != nil:
		return nil, err
	case node == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case node != nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	case node == nil:
		node = &memNode{perm: perm}
		dir.apply(move{set: name, node: node})
	case node.isDir():
		return nil, &NotRegularError{path, node.perm}
	}
	if flag&os.O_TRUNC != 0 {
		node.change(change{truncate: true})
	}
	return &memFile{disk: d, node: node}, nil
}

// Rename implements Disk.
func (d *Mem) Rename(oldpath, newpath string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, node, err := d.at("rename", oldpath)
	if err != nil {
		return err
	}
	dir2, name2, old, err := d.at("rename", newpath)
	switch {
	case err != nil:
		return err
	case node == nil:
		return &fs.PathError{Op: "rename", Path: oldpath, Err: fs.ErrNotExist}
	case dir != dir2 && node.isDir():
		return &fs.PathError{Op: "rename", Path: newpath, Err: errors.New("not modelled for a folder that goes to another one")}
	case old != nil && old.isDir():
		return &fs.PathError{Op: "rename", Path: newpath, Err: fs.ErrExist}
	}
	if dir != dir2 { // each folder keeps or loses its half by itself
		dir2.apply(move{set: name2, node: node})
		dir.apply(move{remove: name})
		return nil
	}
	dir.apply(move{remove: name, set: name2, node: node})
	return nil
}

// Link implements Disk.
func (d *Mem) Link(oldpath, newpath string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, _, node, err := d.at("link", oldpath)
	if err != nil {
		return err
	}
	dir2, name2, taken, err := d.at("link", newpath)
	switch {
	case err != nil:
		return err
	case node == nil:
		return &fs.PathError{Op: "link", Path: oldpath, Err: fs.ErrNotExist}
	case taken != nil:
		return &fs.PathError{Op: "link", Path: newpath, Err: fs.ErrExist}
	case dir != dir2 || node.isDir():
		return &fs.PathError{Op: "link", Path: newpath, Err: fs.ErrInvalid}
	}
	dir.apply(move{set: name2, node: node})
	return nil
}

// Remove implements Disk.
func (d *Mem) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, node, err := d.at("remove", path)
	switch {
	case err != nil:
		return err
	case node == nil:
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	case len(node.names) > 0:
		return &fs.PathError{Op: "remove", Path: path, Err: errors.New("folder is not empty")}
	}
	dir.apply(move{remove: name})
	return nil
}

// RemoveAll implements Disk.
func (d *Mem) RemoveAll(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, node, err := d.at("remove", path)
	if err != nil || node == nil {
		return nil
	}
	dir.apply(move{remove: name})
	return nil
}

// Mkdir implements Disk.
func (d *Mem) Mkdir(path string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, node, err := d.at("mkdir", path)
	switch {
	case err != nil:
		return err
	case node != nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	made := newMemDir()
	made.perm = fs.ModeDir | perm
	dir.apply(move{set: name, node: made})
	return nil
}

// ReadDir implements Disk.
func (d *Mem) ReadDir(path string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(path)
	if err == nil && !n.isDir() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: path, Err: err}
	}
	var out []fs.DirEntry
	for name, node := range n.names {
		out = append(out, fs.FileInfoToDirEntry(memInfo{name, node.perm, int64(len(node.cache))}))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	return out, nil
}

// Stat implements Disk.
func (d *Mem) Stat(path string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(path)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return memInfo{filepath.Base(path), n.perm, int64(len(n.cache))}, nil
}

// Lstat implements Disk; there are no links.
func (d *Mem) Lstat(path string) (fs.FileInfo, error) { return d.Stat(path) }

// SyncDir implements Disk.
func (d *Mem) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(path)
	if err != nil {
		return &fs.PathError{Op: "sync", Path: path, Err: err}
	}
	for _, m := range n.moves {
		applyMove(n.diskNames, m)
	}
	n.moves = nil
	return nil
}

type memInfo struct {
	name string
	mode fs.FileMode
	size int64
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return time.Time{} }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }
