package explorer

import (
	"fmt"
	"slices"
)

// ExploreFiles visits every state that the publication of artifacts can come to
// within the bounds, and stops at the first broken promise. What it takes for
// granted, that a record is there once it is synced, Explore proves.
func ExploreFiles(p FileProtocol, b FileBounds) Result {
	e := &fileExplorer{p: p, seen: map[fileState]bool{}}
	e.visit(-1, fileStep{who: "start", after: firstFiles(b)})
	for at := 0; at < len(e.states) && e.result.Broken == ""; at++ {
		x := fileWalk{p: p, emit: func(next fileStep) { e.visit(int32(at), next) }}
		x.all(e.states[at])
	}
	e.result.States = len(e.states)
	return e.result
}

type fileExplorer struct {
	p      FileProtocol
	seen   map[fileState]bool
	states []fileState
	nodes  []node
	result Result
}

func (e *fileExplorer) visit(from int32, next fileStep) {
	if e.result.Broken != "" {
		return
	}
	e.result.Steps++
	if e.seen[next.after] && next.broken == "" {
		return
	}
	e.seen[next.after] = true
	e.states = append(e.states, next.after)
	e.nodes = append(e.nodes, node{from, next.who, next.what})
	broken := next.broken
	if broken == "" {
		broken = next.after.broken()
	}
	if broken == "" && e.stuck(next.after) {
		broken = "the next report is not recorded, and nothing stands in its way"
	}
	if broken != "" {
		e.result.Broken = broken
		e.result.Trace = e.trace(int32(len(e.states) - 1))
	}
}

// stuck tells whether, with nobody at work and no further trouble, a report that
// comes now is not recorded, nor the next one, though every place is as the
// pending record wants it.
func (e *fileExplorer) stuck(s fileState) bool {
	if s.writers != [2]fileWriter{} || s.newest+2 >= maxContents || s.n+8 > maxLines {
		return false
	}
	if line, ok := s.pending(); ok && !s.fits(line) {
		return false // the way out is to move it away, or to give the files up
	}
	s.left = FileBounds{Calls: 2} // the first one finishes what is left over and may be stale by it
	before := s.acked
	for s.acked == before && (s.left.Calls > 0 || s.writers[0].at != away) {
		next := fileStep{}
		x := fileWalk{p: e.p, emit: func(offered fileStep) { next = offered }}
		x.writer(s, 0)
		if next.who == "" {
			return true
		}
		s = next.after
	}
	return s.acked == before
}

func (e *fileExplorer) trace(at int32) []string {
	var lines []string
	for ; at >= 0; at = e.nodes[at].from {
		n := e.nodes[at]
		lines = append(lines, fmt.Sprintf("%-9s %-64s %s", n.who, n.what, e.states[at]))
	}
	slices.Reverse(lines)
	return lines
}
