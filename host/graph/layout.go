package graph

import "slices"

// layout places nodes in layers, each below all that it waits for. An edge over
// several layers passes through a bend in each of them, which has a place of
// its own, so that it does not run through nodes.
type layout struct {
	spots  []spot
	layers [][]int // spots, from left to right
	routes []route
}

// spot is a node, or the bend of an edge where node is -1.
type spot struct {
	node        int
	layer       int
	width       float64
	x           float64 // of its middle
	above, next []int   // spots that edges come from and lead to
}

// route is one edge as the spots that it passes.
type route struct {
	edge  Edge
	spots []int
}

const (
	gapX      = 28.0
	bendWidth = 12.0
	sweeps    = 12
)

// newLayout lays a graph without rings out. width is that of a node.
func newLayout(g Graph, width func(Node) float64) *layout {
	l := &layout{}
	ranks := ranksOf(g)
	for i, n := range g.Nodes {
		l.add(spot{node: i, layer: ranks[i], width: width(n)})
	}
	for _, e := range g.Edges {
		if !e.Back {
			l.route(e)
		}
	}
	for range sweeps {
		l.sweep(true)
		l.sweep(false)
	}
	l.place()
	return l
}

// ranksOf is the layer of each node: one below the lowest that it waits for.
// Nodes may stand in the file before those that they wait for.
func ranksOf(g Graph) []int {
	ranks, waits := make([]int, len(g.Nodes)), make([]int, len(g.Nodes))
	next := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		if !e.Back {
			next[e.From] = append(next[e.From], e.To)
			waits[e.To]++
		}
	}
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for ; len(ready) > 0; ready = ready[1:] {
		for _, to := range next[ready[0]] {
			ranks[to] = max(ranks[to], ranks[ready[0]]+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	return ranks
}

// bends is how many bends the graph's edges have.
func (g Graph) bends() int {
	ranks, n := ranksOf(g), 0
	for _, e := range g.Edges {
		if !e.Back {
			n += ranks[e.To] - ranks[e.From] - 1
		}
	}
	return n
}

func (l *layout) add(s spot) int {
	for len(l.layers) <= s.layer {
		l.layers = append(l.layers, nil)
	}
	at := len(l.spots)
	l.spots = append(l.spots, s)
	l.layers[s.layer] = append(l.layers[s.layer], at)
	return at
}

func (l *layout) route(e Edge) {
	r := route{edge: e, spots: []int{e.From}}
	at := e.From
	for layer := l.spots[e.From].layer + 1; layer < l.spots[e.To].layer; layer++ {
		bend := l.add(spot{node: -1, layer: layer, width: bendWidth})
		l.join(at, bend)
		at = bend
		r.spots = append(r.spots, bend)
	}
	l.join(at, e.To)
	r.spots = append(r.spots, e.To)
	l.routes = append(l.routes, r)
}

func (l *layout) join(from, to int) {
	l.spots[from].next = append(l.spots[from].next, to)
	l.spots[to].above = append(l.spots[to].above, from)
}

// sweep orders each layer by where its neighbours in the layer before lie, so
// that edges cross less. What has no neighbour there keeps its place.
func (l *layout) sweep(down bool) {
	order := make([]float64, len(l.spots))
	number := func(layer []int) {
		for i, s := range layer {
			order[s] = float64(i)
		}
	}
	for i := range l.layers {
		layer := l.layers[i]
		if !down {
			layer = l.layers[len(l.layers)-1-i]
		}
		number(layer)
		middle := make(map[int]float64, len(layer))
		for _, s := range layer {
			middle[s] = mean(l.neighbours(s, down), order, order[s])
		}
		slices.SortStableFunc(layer, func(a, b int) int {
			switch {
			case middle[a] < middle[b]:
				return -1
			case middle[a] > middle[b]:
				return 1
			}
			return 0
		})
		number(layer)
	}
}

func (l *layout) neighbours(s int, down bool) []int {
	if down {
		return l.spots[s].above
	}
	return l.spots[s].next
}

func mean(of []int, value []float64, absent float64) float64 {
	if len(of) == 0 {
		return absent
	}
	sum := 0.0
	for _, i := range of {
		sum += value[i]
	}
	return sum / float64(len(of))
}

// place gives the spots of each layer their middles: side by side at first,
// then as near to their neighbours as the others in the layer let them.
func (l *layout) place() {
	x := make([]float64, len(l.spots))
	for _, layer := range l.layers {
		l.pack(layer, x, x)
	}
	wish := make([]float64, len(l.spots)) // only of the layer being placed
	for i := range sweeps {
		for j := range l.layers {
			layer := l.layers[j]
			if i%2 == 1 {
				layer = l.layers[len(l.layers)-1-j]
			}
			for _, s := range layer {
				wish[s] = mean(slices.Concat(l.spots[s].above, l.spots[s].next), x, x[s])
			}
			l.pack(layer, wish, x)
		}
	}
	left := 0.0
	for i, s := range l.spots {
		left = min(left, x[i]-s.width/2)
	}
	for i := range l.spots {
		l.spots[i].x = x[i] - left
	}
}

// pack places a layer's spots without overlap, each group of neighbours that
// would be pushed into one another about the middle of their wishes.
func (l *layout) pack(layer []int, wish, x []float64) {
	type group struct {
		from, to int     // in the layer
		sum      float64 // of where each would have its first spot
		width    float64 // from the first spot's middle to the last one's
	}
	var groups []group
	gap := func(a, b int) float64 { return (l.spots[a].width+l.spots[b].width)/2 + gapX }
	for i, s := range layer {
		groups = append(groups, group{from: i, to: i + 1, sum: wish[s]})
		for len(groups) > 1 {
			a, b := groups[len(groups)-2], groups[len(groups)-1]
			between := gap(layer[a.to-1], layer[b.from])
			atA, atB := a.sum/float64(a.to-a.from), b.sum/float64(b.to-b.from)
			if atA+a.width+between <= atB {
				break
			}
			shift := a.width + between
			a.sum += b.sum - shift*float64(b.to-b.from)
			a.to, a.width = b.to, shift+b.width
			groups = append(groups[:len(groups)-2], a)
		}
	}
	for _, g := range groups {
		at := g.sum / float64(g.to-g.from)
		for i := g.from; i < g.to; i++ {
			if i > g.from {
				at += gap(layer[i-1], layer[i])
			}
			x[layer[i]] = at
		}
	}
}
