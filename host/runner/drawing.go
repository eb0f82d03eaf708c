package runner

import (
	"context"
	"strings"

	"github.com/spec-kitty/step-runner/host/graph"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Drawing is a definition as a graph.
type Drawing struct {
	Schema      int    `json:"schema"`
	MissionType string `json:"mission_type"`
	Format      string `json:"format"`
	Graph       string `json:"graph"` // the text, or the picture as SVG
}

// GraphFormats are the formats of Graph.
func GraphFormats() []string { return []string{"mermaid", "dot", "svg"} }

// Graph draws a definition. It writes nothing.
func (p *Project) Graph(ctx context.Context, which Which, format string) (Drawing, error) {
	shown, def, err := p.find(ctx, which)
	if err != nil {
		return Drawing{}, classify(err)
	}
	g, err := graph.Of(def)
	if err != nil {
		return Drawing{}, classify(err)
	}
	d := Drawing{Schema: Schema, MissionType: shown.MissionType, Format: format}
	switch {
	case format == "mermaid":
		d.Graph = g.Mermaid()
	case format == "dot":
		d.Graph = g.DOT()
	case format == "svg":
		if d.Graph, err = g.SVG(); err != nil {
			return Drawing{}, fail(CodeUsage, "use --format dot, and a program that lays it out", "%v", err)
		}
	default:
		e := fail(CodeUsage, "use one of: "+strings.Join(GraphFormats(), ", "), "there is no format %q", format)
		if e.Candidates = GraphFormats(); mission.Nearest(format, GraphFormats()) != "" {
			e.Candidates = []string{mission.Nearest(format, GraphFormats())}
		}
		return Drawing{}, e
	}
	return d, nil
}
