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

// Explore visits every state that a protocol can come to within the bounds,
// and stops at the first broken promise.
func Explore(p Protocol, b Bounds) Result {
	return exploreCommits(p, b).result
}

func exploreCommits(p Protocol, b Bounds) *search[state] {
	var call, then []step
	judge := func(s state) string {
		broken := s.broken()
		if broken == "" {
			call, broken = p.stuck(s, call[:0])
			if broken != "" {
				then = call
			}
		}
		return broken
	}
	e := searched(initial(b), judge, func(s state, emit func(step)) { walk{p, emit}.all(s) })
	for _, s := range then {
		e.result.Trace = append(e.result.Trace, line(s))
	}
	return e
}

// all gives every step from a state.
func (x walk) all(s state) {
	x.writer(s, 0)
	x.writer(s, 1)
	x.read(s)
	x.trouble(s)
}

// stuck tells whether, with nobody at work and no further trouble, a writer
// that calls now fails to commit; and its call, behind those steps that are given.
func (p Protocol) stuck(s state, call []step) (_ []step, broken string) {
	if s.odd&rotten != 0 || !s.quiet() || s.made == maxRecords {
		return call, ""
	}
	s.left, s.reader = Bounds{Calls: 1}, reader{}
	wanted := s.made + 1
	call = p.alone(s, call)
	for _, a := range call {
		if a.broken != "" {
			broken = a.broken
		}
	}
	after := &call[len(call)-1].after
	if broken == "" && (after.made != wanted || after.acked&(1<<wanted) == 0) {
		broken = "the next call does not commit"
	}
	return call, broken
}

// alone is one call with no trouble and nobody else at work, from a state in
// which one can begin.
func (p Protocol) alone(s state, call []step) []step {
	for s.left.Calls > 0 || s.writers[0].at != idle {
		// Without trouble the last step offered is the one that goes on.
		next := step{what: "the next call cannot begin"}
		x := walk{p: p, emit: func(offered step) { next = offered }}
		x.writer(s, 0)
		call = append(call, next)
		if next.who == "" {
			break
		}
		s = next.after
	}
	return call
}
