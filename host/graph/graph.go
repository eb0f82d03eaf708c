// Package graph draws the steps of a definition: as Mermaid and DOT text, which
// other programs lay out, and as an SVG picture of its own layout. It promises
// that every step and every dependency is in the drawing, that the same
// definition gives the same bytes, and that no text of a definition can break
// out of the place that it is drawn at. It is pure, and all functions may be
// called concurrently.
package graph

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Graph is a definition as nodes and edges.
type Graph struct {
	Title string
	Nodes []Node // in the order of the definition
	Edges []Edge // by the node that they lead to, then by the one they come from
}

// Node is a step or audit.
type Node struct {
	ID    string
	Title string // "" where it is the id
	Kind  Kind
	Notes []string // what is to know about it, a few words each
}

// Kind is what sort of step a node is.
type Kind string

// The kinds.
const (
	Plain    Kind = "step"
	Auto     Kind = "auto"     // its executor does it alone
	Packages Kind = "packages" // worked on package by package
	Advisory Kind = "advisory" // an audit that is handed out
	Blocking Kind = "blocking" // an audit that is answered
)

// Edge leads from a node to one that waits for it, or, with Back, from an audit
// to what its rejection opens again. Both are places in Nodes.
type Edge struct {
	From, To int
	Back     bool
}

// Of makes the graph of a definition. The definition's own order counts where
// no step names what it depends on.
func Of(def *mission.Definition) (Graph, error) {
	g := Graph{Title: def.Name}
	place := make(map[string]int, len(def.Steps))
	for pos, step := range def.Steps {
		g.Nodes = append(g.Nodes, node(step))
		place[step.ID] = pos
	}
	index, err := def.Dependencies()
	if err != nil {
		return Graph{}, err
	}
	for pos, deps := range index {
		for _, dep := range deps {
			g.Edges = append(g.Edges, Edge{From: dep, To: pos})
		}
	}
	for pos, step := range def.Steps {
		if step.Audit != nil && step.Audit.OnReject != "" {
			g.Edges = append(g.Edges, Edge{From: pos, To: place[step.Audit.OnReject], Back: true})
		}
	}
	return g, nil
}

func node(step mission.Step) Node {
	n := Node{ID: step.ID, Kind: kindOf(step), Notes: notes(step)}
	if step.Title != step.ID {
		n.Title = step.Title
	}
	return n
}

func kindOf(step mission.Step) Kind {
	switch {
	case step.Packages != nil:
		return Packages
	case step.Blocking():
		return Blocking
	case step.Audit != nil:
		return Advisory
	case step.Executor != nil && step.Executor.Auto:
		return Auto
	}
	return Plain
}

func notes(step mission.Step) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	asked := 0
	for _, in := range step.Inputs {
		if in.Default == nil {
			asked++
		}
	}
	if asked > 0 {
		add("asks %s", count(asked, "question"))
	}
	if step.Executor != nil {
		add("runs %s", step.Executor.Plugin)
	}
	if len(step.Guards) > 0 {
		add("%s", count(len(step.Guards), "guard"))
	}
	if p := step.Packages; p != nil {
		add("packages: %s to %s", lanes(p.Take), p.Success)
	}
	if step.Retry > 0 {
		add("%s", plural(step.Retry, "retry", "retries"))
	}
	return all
}

func count(n int, what string) string { return plural(n, what, what+"s") }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func lanes(all []mission.Lane) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = string(l)
	}
	return strings.Join(names, ", ")
}
