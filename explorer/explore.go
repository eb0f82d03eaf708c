package explorer

import (
	"fmt"
	"strings"
)

// Result is what a walk found.
type Result struct {
	States int    // different states visited
	Steps  int    // steps between them, those that lead back included
	Broken string // the promise that does not hold, or "" where none was found
	Trace  []string
}

func (r Result) String() string {
	if r.Broken == "" {
		return fmt.Sprintf("%d states, %d steps: every promise holds", r.States, r.Steps)
	}
	return fmt.Sprintf("%d states: %s, after %d steps\n  %s", r.States, r.Broken, len(r.Trace)-1, strings.Join(r.Trace, "\n  "))
}

// node is a visited state and how it was first come to.
type node struct {
	from int32
	who  string
	what string
}

// explorer walks breadth first, so the first broken promise has a shortest
// trace.
type explorer struct {
	p      Protocol
	seen   map[state]int32
	states []state
	nodes  []node
	result Result
	call   []step // what alone gave last
}

// Explore visits every state that a protocol can come to within the bounds,
// and stops at the first broken promise.
func Explore(p Protocol, b Bounds) Result {
	e := &explorer{p: p, seen: map[state]int32{}}
	e.explore(b)
	return e.result
}

func (e *explorer) explore(b Bounds) {
	e.visit(-1, step{who: "start", after: initial(b)})
	for at := 0; at < len(e.states) && e.result.Broken == ""; at++ {
		e.expand(int32(at))
	}
	e.result.States = len(e.states)
}

func (e *explorer) expand(at int32) {
	x := walk{p: e.p, emit: func(next step) { e.visit(at, next) }}
	x.all(e.states[at])
}

// all gives every step from a state.
func (x walk) all(s state) {
	x.writer(s, 0)
	x.writer(s, 1)
	x.read(s)
	x.trouble(s)
}

func (e *explorer) visit(from int32, next step) {
	if e.result.Broken != "" {
		return
	}
	e.result.Steps++
	if _, known := e.seen[next.after]; known && next.broken == "" {
		return
	}
	e.seen[next.after] = int32(len(e.states))
	e.states = append(e.states, next.after)
	e.nodes = append(e.nodes, node{from, next.who, next.what})
	broken, then := next.broken, []string(nil)
	if broken == "" {
		broken = next.after.broken()
	}
	if broken == "" {
		broken, then = e.stuck(next.after)
	}
	if broken != "" {
		e.result.Broken = broken
		e.result.Trace = append(e.trace(int32(len(e.states)-1)), then...)
	}
}

// stuck tells whether, with nobody at work and no further trouble, a writer
// that calls now fails to commit, and how that goes on.
func (e *explorer) stuck(s state) (broken string, then []string) {
	if s.odd&rotten != 0 || !s.quiet() || s.made == maxRecords {
		return "", nil
	}
	s.left, s.reader = Bounds{Calls: 1}, reader{}
	wanted := s.made + 1
	alone := e.alone(s)
	for _, a := range alone {
		if a.broken != "" {
			broken = a.broken
		}
	}
	after := &alone[len(alone)-1].after
	if broken == "" && (after.made != wanted || after.acked&(1<<wanted) == 0) {
		broken = "the next call does not commit"
	}
	if broken != "" {
		for _, a := range alone {
			then = append(then, line(a))
		}
	}
	return broken, then
}

// alone is one call with no trouble and nobody else at work, from a state in
// which one can begin.
func (e *explorer) alone(s state) []step {
	e.call = e.call[:0]
	for s.left.Calls > 0 || s.writers[0].at != idle {
		// Without trouble the last step offered is the one that goes on.
		next := step{what: "the next call cannot begin"}
		x := walk{p: e.p, emit: func(offered step) { next = offered }}
		x.writer(s, 0)
		e.call = append(e.call, next)
		if next.who == "" {
			break
		}
		s = next.after
	}
	return e.call
}

func (e *explorer) trace(at int32) []string {
	var lines []string
	for ; at >= 0; at = e.nodes[at].from {
		n := e.nodes[at]
		lines = append(lines, line(step{who: n.who, what: n.what, after: e.states[at]}))
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

func line(s step) string { return fmt.Sprintf("%-9s %-56s %s", s.who, s.what, s.after.disk) }
