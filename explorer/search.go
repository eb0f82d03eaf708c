package explorer

import (
	"fmt"
	"slices"
)

// search walks through all states of a model, nearest first, and stops at the
// first broken promise.
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

// stepTo is one thing that happens, and what it leads to.
type stepTo[S shown] struct {
	who, what string
	after     S
	broken    string
}

// explore visits every state that can be reached from the first one.
func explore[S shown](first S, judge func(S) string, steps func(s S, emit func(stepTo[S]))) Result {
	e := &search[S]{judge: judge, seen: map[S]bool{}}
	e.visit(-1, stepTo[S]{who: "start", after: first})
	for at := 0; at < len(e.states) && e.result.Broken == ""; at++ {
		steps(e.states[at], func(next stepTo[S]) { e.visit(int32(at), next) })
	}
	e.result.States = len(e.states)
	return e.result
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
		lines = append(lines, fmt.Sprintf("%-9s %-64s %s", n.who, n.what, e.states[at]))
	}
	slices.Reverse(lines)
	return lines
}
