package graph

import (
	"fmt"
	"strings"
)

// Mermaid is the graph as a Mermaid flowchart. Nodes go by their places, as ids
// may be words of the language.
func (g Graph) Mermaid() string {
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	for i, n := range g.Nodes {
		before, after := mermaidShape(n.Kind)
		fmt.Fprintf(&out, "  n%d%s\"%s\"%s\n", i, before, mermaidText(strings.Join(n.lines(), "\n")), after)
	}
	for _, e := range g.Edges {
		if e.Back {
			fmt.Fprintf(&out, "  n%d -. rejected .-> n%d\n", e.From, e.To)
			continue
		}
		fmt.Fprintf(&out, "  n%d --> n%d\n", e.From, e.To)
	}
	return out.String()
}

func mermaidShape(k Kind) (before, after string) {
	switch k {
	case Packages:
		return "[[", "]]"
	case Blocking:
		return "{{", "}}"
	case Advisory:
		return "([", "])"
	case Auto:
		return "[/", "/]"
	}
	return "[", "]"
}

// mermaidText escapes what Mermaid, or the HTML that it makes, reads as more
// than text: everything but letters, digits, blanks and a few marks.
func mermaidText(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			out.WriteString("<br>")
		case r < 0x80 && !strings.ContainsRune(" ,:-_/()?!", r) && !letterOrDigit(r):
			fmt.Fprintf(&out, "#%d;", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func letterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// DOT is the graph in the language of Graphviz.
func (g Graph) DOT() string {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph %s {\n", dotText(g.Title))
	out.WriteString("  rankdir=TB;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&out, "  %s [label=%s%s];\n", dotText(n.ID), dotText(strings.Join(n.lines(), "\n")), dotShape(n.Kind))
	}
	for _, e := range g.Edges {
		how := ""
		if e.Back {
			how = ` [style=dashed, label="rejected", constraint=false]`
		}
		fmt.Fprintf(&out, "  %s -> %s%s;\n", dotText(g.Nodes[e.From].ID), dotText(g.Nodes[e.To].ID), how)
	}
	out.WriteString("}\n")
	return out.String()
}

func dotShape(k Kind) string {
	switch k {
	case Packages:
		return ", peripheries=2"
	case Blocking:
		return ", shape=hexagon, style=solid"
	case Advisory:
		return `, style="rounded,dashed"`
	case Auto:
		return ", shape=parallelogram, style=solid"
	}
	return ""
}

// dotText is a quoted text. A backslash begins an escape in labels, so one in
// the text is written as two.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// lines are what is written into a node.
func (n Node) lines() []string {
	lines := []string{n.ID}
	if n.Title != "" {
		lines = append(lines, n.Title)
	}
	if len(n.Notes) > 0 {
		lines = append(lines, strings.Join(n.Notes, ", "))
	}
	return lines
}
