package durable

import (
	"io"
	"slices"
)

// change is one write or one change of length that is not durable yet.
type change struct {
	off      int64
	data     []byte // a write
	truncate bool   // else a new length: off
}

// lay puts a change onto content.
func (c change) lay(content []byte) []byte {
	if c.truncate {
		return resize(content, c.off)
	}
	if end := c.off + int64(len(c.data)); end > int64(len(content)) {
		content = resize(content, end)
	}
	copy(content[c.off:], c.data)
	return content
}

// resize cuts or fills with zero bytes, in memory of its own.
func resize(b []byte, size int64) []byte {
	out := make([]byte, size)
	copy(out, b)
	return out
}

func (n *memNode) change(c change) {
	n.cache = c.lay(n.cache)
	n.changes = append(n.changes, c)
}

type memFile struct {
	disk *Mem
	node *memNode
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if off >= int64(len(f.node.cache)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.cache[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.node.change(change{off: off, data: slices.Clone(p)})
	return len(p), nil
}

func (f *memFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.node.cache)), nil
}

func (f *memFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.node.change(change{off: size, truncate: true})
	return nil
}

// Sync makes the changes durable. Those that a failed sync lost are not among
// them, although the cache shows them.
func (f *memFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	for _, c := range f.node.changes {
		f.node.disk = c.lay(f.node.disk)
	}
	f.node.changes = nil
	return nil
}

// loseUnsynced is what a failed sync may do: the changes stay in the cache and
// are taken for clean, so no later sync writes them.
func (f *memFile) loseUnsynced() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.node.changes = nil
}

func (f *memFile) Close() error { return nil }
