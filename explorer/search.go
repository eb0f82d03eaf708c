package explorer

import (
	"fmt"
	"slices"
)

// search walks through all states of a model, nearest first, and stops at the
// first broken promise, which so has a shortest trace.
type search[S shown] struct {
	judge  func(S) string // says which promise does not hold, or ""
	seen   map[S]bool
	states []S
	nodes  []node
	result Result
}

// shown is a state: all that decides what can happen next, and how a trace
// shows it.
type shown interface {
	comparable
	fmt.Stringer
}

// node is how a visited state was first come to.
type node struct {
	from int32
	who  string
	what string
}

// stepTo is one thing that happens, and what it leads to. broken is set where the
// step itself breaks a promise.
type stepTo[S shown] struct {
	who, what string
	after     S
	broken    string
}

// explore visits every state that can be reached from the first one.
func explore[S shown](first S, judge func(S) string, steps func(s S, emit func(stepTo[S]))) Result {
	return searched(first, judge, steps).result
}

func searched[S shown](first S, judge func(S) string, steps func(s S, emit func(stepTo[S]))) *search[S] {
	e := &search[S]{judge: judge, seen: map[S]bool{}}
	e.visit(-1, stepTo[S]{who: "start", after: first})
	for at := 0; at < len(e.states) && e.result.Broken == ""; at++ {
		steps(e.states[at], func(next stepTo[S]) { e.visit(int32(at), next) })
	}
	e.result.States = len(e.states)
	return e
}

func (e *search[S]) visit(from int32, next stepTo[S]) {
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
		broken = e.judge(next.after)
	}
	if broken != "" {
		e.result.Broken = broken
		e.result.Trace = e.trace(int32(len(e.states) - 1))
	}
}

func (e *search[S]) trace(at int32) []string {
	var lines []string
	for ; at >= 0; at = e.nodes[at].from {
		n := e.nodes[at]
		lines = append(lines, line(stepTo[S]{who: n.who, what: n.what, after: e.states[at]}))
	}
	slices.Reverse(lines)
	return lines
}

func line[S shown](s stepTo[S]) string { return fmt.Sprintf("%-9s %-64s %s", s.who, s.what, s.after) }
