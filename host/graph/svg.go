package graph

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a picture: more could not be read, and would take long to lay
// out.
const (
	MaxSVG   = 500    // steps
	maxBends = 10_000 // places where lines pass by steps
)

// TooLargeError says that a definition is too large for a picture.
type TooLargeError struct{ Steps, Bends int }

func (e *TooLargeError) Error() string {
	if e.Steps > MaxSVG {
		return fmt.Sprintf("%d steps are more than the %d of a picture", e.Steps, MaxSVG)
	}
	return fmt.Sprintf("the lines between %d steps pass by others %d times, too often for a picture", e.Steps, e.Bends)
}

const (
	margin     = 20.0
	lineHeight = 17.0
	padding    = 10.0
	gapY       = 44.0
	charWidth  = 7.4 // of 12 px text in the widest of the usual fonts
	maxChars   = 36
	minWidth   = 120.0
)

// SVG is the graph as a picture: layers from top to bottom, each step below all
// that it waits for. It names no font file, loads nothing and runs nothing. The
// error is a *TooLargeError.
func (g Graph) SVG() (string, error) {
	if bends := g.bends(); len(g.Nodes) > MaxSVG || bends > maxBends {
		return "", &TooLargeError{Steps: len(g.Nodes), Bends: bends}
	}
	p := &picture{g: g, l: newLayout(g, nodeWidth)}
	p.measure()
	return p.draw(), nil
}

func nodeWidth(n Node) float64 {
	widest := minWidth
	for _, line := range n.rows() {
		widest = max(widest, float64(utf8.RuneCountInString(line))*charWidth+2*padding)
	}
	return widest
}

// rows are the lines of a node, cut to what fits.
func (n Node) rows() []string {
	rows := []string{cut(n.ID)}
	if n.Title != "" {
		rows = append(rows, cut(n.Title))
	}
	for _, note := range n.Notes {
		rows = append(rows, cut(note))
	}
	return rows
}

func cut(line string) string {
	if utf8.RuneCountInString(line) <= maxChars {
		return line
	}
	return string([]rune(line)[:maxChars-1]) + "…"
}

func (n Node) height() float64 { return float64(len(n.rows()))*lineHeight + 2*padding - 4 }

// picture is a layout with its measures.
type picture struct {
	g             Graph
	l             *layout
	tops, heights []float64 // of the layers
	width, height float64
	right         float64 // where the nodes end
	out           strings.Builder
}

func (p *picture) measure() {
	y := margin + 26
	for _, layer := range p.l.layers {
		tallest := 0.0
		for _, s := range layer {
			if n := p.l.spots[s].node; n >= 0 {
				tallest = max(tallest, p.g.Nodes[n].height())
			}
		}
		p.tops, p.heights = append(p.tops, y), append(p.heights, tallest)
		y += tallest + gapY
	}
	for _, s := range p.l.spots {
		p.right = max(p.right, margin+s.x+s.width/2)
	}
	p.width = max(p.right+margin, float64(utf8.RuneCountInString(cut(p.g.Title)))*9+2*margin)
	if backs := p.backs(); backs > 0 {
		p.width = max(p.width, p.right+float64(backs)*18+70+margin)
	}
	p.height = y - gapY + margin
}

func (p *picture) backs() int {
	n := 0
	for _, e := range p.g.Edges {
		if e.Back {
			n++
		}
	}
	return n
}

func (p *picture) draw() string {
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">`+"\n",
		p.width, p.height, p.width, p.height)
	fmt.Fprintf(&p.out, "<title>%s</title>\n", xmlText(p.g.Title))
	p.out.WriteString(`<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>` + "\n")
	p.out.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	fmt.Fprintf(&p.out, `<text x="%.0f" y="%.0f" font-size="15" font-weight="bold" fill="#222">%s</text>`+"\n", margin, margin+6, xmlText(cut(p.g.Title)))
	for _, r := range p.l.routes {
		p.edge(r)
	}
	lane := 0
	for _, e := range p.g.Edges {
		if e.Back {
			p.back(e, lane)
			lane++
		}
	}
	for i := range p.g.Nodes {
		p.node(i)
	}
	p.out.WriteString("</svg>\n")
	return p.out.String()
}

// edge goes from the lower side of a node straight down through its layer's
// band, and in a curve to the next layer.
func (p *picture) edge(r route) {
	var path strings.Builder
	first := p.l.spots[r.spots[0]]
	x, y := margin+first.x, p.bottom(first)
	fmt.Fprintf(&path, "M%.1f %.1f", x, y)
	for _, at := range r.spots[1:] {
		s := p.l.spots[at]
		line := p.tops[s.layer-1] + p.heights[s.layer-1]
		if y < line {
			fmt.Fprintf(&path, "V%.1f", line)
			y = line
		}
		toX, toY := margin+s.x, p.top(s)
		half := (toY - y) / 2
		fmt.Fprintf(&path, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, y+half, toX, toY-half, toX, toY)
		x, y = toX, toY
	}
	fmt.Fprintf(&p.out, `<path d="%s" fill="none" stroke="#555" stroke-width="1.3" marker-end="url(#tip)"/>`+"\n", path.String())
}

// back goes around all nodes on the right side, and comes to its target from
// above, between the layers.
func (p *picture) back(e Edge, lane int) {
	from, to := p.l.spots[e.From], p.l.spots[e.To]
	x1, y1 := margin+from.x+from.width/2, p.top(from)+p.g.Nodes[e.From].height()/2
	x2, y2 := margin+to.x+to.width/4, p.top(to)
	side := p.right + 16 + float64(lane)*18
	above := p.tops[to.layer] - 10 - float64(lane%4)*5
	fmt.Fprintf(&p.out, `<path d="M%.1f %.1fH%.1fV%.1fH%.1fV%.1f" fill="none" stroke="#b33" stroke-width="1.3" stroke-dasharray="5 4" stroke-linejoin="round" marker-end="url(#tip)"/>`+"\n",
		x1, y1, side, above, x2, y2)
	fmt.Fprintf(&p.out, `<text x="%.1f" y="%.1f" font-size="11" fill="#b33">rejected</text>`+"\n", side+5, (y1+above)/2+float64(lane)*13)
}

// top is where a node begins: in the middle of its layer's band. A bend begins
// where the band does.
func (p *picture) top(s spot) float64 {
	if s.node < 0 {
		return p.tops[s.layer]
	}
	return p.tops[s.layer] + (p.heights[s.layer]-p.g.Nodes[s.node].height())/2
}

func (p *picture) bottom(s spot) float64 { return p.top(s) + p.g.Nodes[s.node].height() }

func (p *picture) node(i int) {
	n, s := p.g.Nodes[i], p.l.spots[i]
	x, y, h := margin+s.x-s.width/2, p.top(s), n.height()
	fill, more := paint(n.Kind)
	fmt.Fprintf(&p.out, `<g><title>%s</title>`, xmlText(strings.Join(n.lines(), "\n")))
	fmt.Fprintf(&p.out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="%s" stroke="#444"%s/>`, x, y, s.width, h, fill, more)
	if n.Kind == Packages {
		fmt.Fprintf(&p.out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="none" stroke="#444" stroke-width="0.7"/>`, x+3, y+3, s.width-6, h-6)
	}
	for row, line := range n.rows() {
		how := ` fill="#555" font-size="11"`
		switch {
		case row == 0:
			how = ` font-weight="bold" fill="#111"`
		case row == 1 && n.Title != "":
			how = ` fill="#222"`
		}
		fmt.Fprintf(&p.out, `<text x="%.1f" y="%.1f" text-anchor="middle"%s>%s</text>`, margin+s.x, y+padding+10+float64(row)*lineHeight, how, xmlText(line))
	}
	p.out.WriteString("</g>\n")
}

func paint(k Kind) (fill, more string) {
	switch k {
	case Packages:
		return "#e6f0fb", ""
	case Blocking:
		return "#fdeaea", ` stroke-width="2"`
	case Advisory:
		return "#fff6e0", ` stroke-dasharray="5 3"`
	case Auto:
		return "#eaf6ea", ""
	}
	return "#f6f6f6", ""
}

// xmlText escapes text; what XML cannot hold at all is left out.
func xmlText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
