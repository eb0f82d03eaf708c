package mission

import (
	"slices"
	"strconv"
	"strings"
)

// graph is what Check looks up: positions by id and the steps that each waits
// for. References to nothing are left out; Check reports them.
type graph struct {
	def        *Definition
	ids        map[string]int // the first step of that id
	folded     map[string]int // the first step of that id but for letter case
	deps       [][]int
	firstAudit int // position; the number of steps where there is no audit
	asked      map[string][]asking
	executors  []int // positions

	before map[int]Bits // ancestors, as far as asked for
}

// asking is an input's place.
type asking struct{ pos, input int }

func newGraph(d *Definition) *graph {
	g := &graph{def: d, ids: map[string]int{}, folded: map[string]int{}, firstAudit: len(d.Steps),
		asked: map[string][]asking{}, before: map[int]Bits{}}
	for pos := len(d.Steps) - 1; pos >= 0; pos-- {
		id := d.Steps[pos].ID
		g.ids[id], g.folded[Fold(id)] = pos, pos
		if d.Steps[pos].Audit != nil {
			g.firstAudit = pos
		}
	}
	g.deps = make([][]int, len(d.Steps))
	inOrder := d.inFileOrder()
	for pos, step := range d.Steps {
		if inOrder && pos > 0 {
			g.deps[pos] = []int{pos - 1}
		}
		for _, id := range step.DependsOn {
			if dep, ok := g.position(id); ok {
				g.deps[pos] = append(g.deps[pos], dep)
			}
		}
		for i, in := range step.Inputs {
			g.asked[in.Key] = append(g.asked[in.Key], asking{pos, i})
		}
		if step.Executor != nil {
			g.executors = append(g.executors, pos)
		}
	}
	return g
}

func (g *graph) position(id string) (pos int, ok bool) {
	pos, ok = g.ids[id]
	return pos, ok && id != ""
}

func (g *graph) nearest(id string) string {
	ids := make([]string, 0, len(g.ids))
	for known := range g.ids {
		ids = append(ids, known)
	}
	return Nearest(id, ids)
}

// ancestors are the steps that pos waits for, near and far; pos itself is among
// them only in a cycle.
func (g *graph) ancestors(pos int) Bits {
	if known, ok := g.before[pos]; ok {
		return known
	}
	seen := make([]byte, len(g.deps)/8+1)
	todo := slices.Clone(g.deps[pos])
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at>>3]&(1<<(at&7)) == 0 {
			seen[at>>3] |= 1 << (at & 7)
			todo = append(todo, g.deps[at]...)
		}
	}
	g.before[pos] = trimmed(seen)
	return g.before[pos]
}

// cycles reports each ring of steps that wait for one another, once, beginning
// with its first step in the file. Without a stack of calls: a chain may be as
// long as a definition.
func (c *checker) cycles() {
	const (
		fresh = iota
		open
		done
	)
	state := make([]byte, len(c.graph.deps))
	for start := range c.graph.deps {
		trail, next := []int{start}, []int{0}
		if state[start] != fresh {
			continue
		}
		state[start] = open
		for len(trail) > 0 {
			last := len(trail) - 1
			at := trail[last]
			if next[last] == len(c.graph.deps[at]) {
				state[at] = done
				trail, next = trail[:last], next[:last]
				continue
			}
			dep := c.graph.deps[at][next[last]]
			next[last]++
			switch state[dep] {
			case fresh:
				state[dep] = open
				trail, next = append(trail, dep), append(next, 0)
			case open:
				c.ring(trail[slices.Index(trail, dep):])
			}
		}
	}
}

func (c *checker) ring(ring []int) {
	least := slices.Index(ring, slices.Min(ring))
	ring = append(slices.Clone(ring[least:]), ring[:least]...)
	names := make([]string, 0, len(ring)+1)
	for _, pos := range ring {
		id := c.def.Steps[pos].ID
		if CheckName(id) != nil {
			id = strconv.Quote(id) // reported as no name; it may be anything
		}
		names = append(names, id)
	}
	names = append(names, names[0])
	c.path = c.def.stepPath(ring[0], c.graph.firstAudit)
	c.add("depends_on", "steps wait for one another: %s", strings.Join(names, " -> "))
	c.path = ""
}
