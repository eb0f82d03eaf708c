package durable

import (
	"maps"
	"slices"
)

// Chooser decides, in a crash, between n possibilities: a number in [0, n).
// Zero is always the loss, n-1 the survival.
type Chooser func(n int) int

// Nothing survives of what was not synced.
func Nothing(int) int { return 0 }

// Everything survives, as when a process is killed.
func Everything(n int) int { return n - 1 }

// Crash gives the disk as it is after a power failure now; the disk itself
// goes on. Each change of a folder's names, and each sector of a write that
// was not synced, survives or is lost as choose says; sector is its size in
// bytes, 1 tears writes at every byte. A file may also keep the length of what
// was lost, with zero bytes in its place.
func (d *Mem) Crash(sector int, choose Chooser) *Mem {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := crash{sector: sector, choose: choose, done: map[*memNode]*memNode{}}
	return &Mem{root: c.node(d.root)}
}

type crash struct {
	sector int
	choose Chooser
	done   map[*memNode]*memNode // a file may have two names
}

func (c *crash) node(n *memNode) *memNode {
	if out, ok := c.done[n]; ok {
		return out
	}
	out := &memNode{perm: n.perm}
	c.done[n] = out
	if n.isDir() {
		c.names(n, out)
		return out
	}
	out.disk = c.content(n)
	out.cache = slices.Clone(out.disk)
	return out
}

func (c *crash) names(n, out *memNode) {
	left := maps.Clone(n.diskNames)
	for _, m := range n.moves {
		if c.choose(2) == 1 {
			applyMove(left, m)
		}
	}
	out.diskNames, out.names = map[string]*memNode{}, map[string]*memNode{}
	// In order of names, so that the choices are the same in each run.
	for _, name := range slices.Sorted(maps.Keys(left)) {
		node := c.node(left[name])
		out.diskNames[name], out.names[name] = node, node
	}
}

func (c *crash) content(n *memNode) []byte {
	content := slices.Clone(n.disk)
	lost := false
	for _, ch := range n.changes {
		for _, piece := range c.pieces(ch) {
			if c.choose(2) == 1 {
				content = piece.lay(content)
			} else {
				lost = true
			}
		}
	}
	if lost && len(content) < len(n.cache) && c.choose(2) == 1 {
		content = resize(content, int64(len(n.cache)))
	}
	return content
}

// pieces cuts a write at the borders of sectors.
func (c *crash) pieces(ch change) []change {
	if ch.truncate {
		return []change{ch}
	}
	var out []change
	size := int64(c.sector)
	for off, data := ch.off, ch.data; len(data) > 0; {
		n := min(size-off%size, int64(len(data)))
		out = append(out, change{off: off, data: data[:n]})
		off, data = off+n, data[n:]
	}
	return out
}
