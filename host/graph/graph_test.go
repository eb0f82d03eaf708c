package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/mission"
)

// chain is a definition whose steps wait for those that are given.
func chain(deps ...[]int) *mission.Definition {
	def := &mission.Definition{Key: "m", Name: "m", Version: "1"}
	for i, of := range deps {
		step := mission.Step{ID: fmt.Sprintf("s%d", i), Title: fmt.Sprintf("Step %d", i)}
		for _, dep := range of {
			step.DependsOn = append(step.DependsOn, fmt.Sprintf("s%d", dep))
		}
		def.Steps = append(def.Steps, step)
	}
	return def
}

func drawn(t *testing.T, def *mission.Definition) Graph {
	t.Helper()
	g, err := Of(def)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func everything() *mission.Definition {
	def := chain(nil, []int{0}, []int{1}, []int{2}, []int{3})
	text := "x"
	def.Steps[0].Title = "s0"
	def.Steps[0].Inputs = []mission.Input{{Key: "a", Question: "A?"}, {Key: "b", Default: &text}}
	def.Steps[0].Guards = []mission.Guard{{Input: "a"}, {Artifact: &mission.ArtifactGuard{Path: "x"}}}
	def.Steps[1].Executor = &mission.Executor{Plugin: "lint", Auto: true}
	def.Steps[2].Packages = &mission.PackageRule{Take: []mission.Lane{mission.Planned}, Success: mission.Done}
	def.Steps[2].Retry = 2
	def.Steps[3].Audit = &mission.Audit{Enforcement: mission.Advisory}
	def.Steps[4].Audit = &mission.Audit{Enforcement: mission.Blocking, OnReject: "s2"}
	return def
}

func TestMermaid(t *testing.T) {
	want := `flowchart TD
  n0["s0<br>asks 1 question, 2 guards"]
  n1[/"s1<br>Step 1<br>runs lint"/]
  n2[["s2<br>Step 2<br>packages: planned to done, 2 retries"]]
  n3(["s3<br>Step 3"])
  n4{{"s4<br>Step 4"}}
  n0 --> n1
  n1 --> n2
  n2 --> n3
  n3 --> n4
  n4 -. rejected .-> n2
`
	if diff := cmp.Diff(want, drawn(t, everything()).Mermaid()); diff != "" {
		t.Error(diff)
	}
}

func TestDOT(t *testing.T) {
	want := `digraph "m" {
  rankdir=TB;
  node [shape=box, style=rounded, fontname="sans-serif"];
  "s0" [label="s0\nasks 1 question, 2 guards"];
  "s1" [label="s1\nStep 1\nruns lint", shape=parallelogram, style=solid];
  "s2" [label="s2\nStep 2\npackages: planned to done, 2 retries", peripheries=2];
  "s3" [label="s3\nStep 3", style="rounded,dashed"];
  "s4" [label="s4\nStep 4", shape=hexagon, style=solid];
  "s0" -> "s1";
  "s1" -> "s2";
  "s2" -> "s3";
  "s3" -> "s4";
  "s4" -> "s2" [style=dashed, label="rejected", constraint=false];
}
`
	if diff := cmp.Diff(want, drawn(t, everything()).DOT()); diff != "" {
		t.Error(diff)
	}
}

// Field case 37: a diamond and a chain of 200 are drawn; without any
// depends_on the order of the file counts.
func TestEdges(t *testing.T) {
	edges := func(def *mission.Definition) string {
		var all []string
		for _, e := range drawn(t, def).Edges {
			all = append(all, fmt.Sprintf("%d>%d", e.From, e.To))
		}
		return strings.Join(all, " ")
	}
	for want, def := range map[string]*mission.Definition{
		"0>1 0>2 1>3 2>3": chain(nil, []int{0}, []int{0}, []int{1, 2}),
		"0>1 1>2":         chain(nil, nil, nil),
		"2>0 0>1":         chain([]int{2}, []int{0}, nil),
		"":                chain(nil),
	} {
		if got := edges(def); got != want {
			t.Errorf("edges %s, want %s", got, want)
		}
	}
	if n := len(drawn(t, chain(make([][]int, 200)...)).Edges); n != 199 {
		t.Errorf("a chain of 200 has %d edges", n)
	}
}

// No text of a definition breaks out of the place that it is drawn at.
func TestTextsStayTexts(t *testing.T) {
	nasty := []string{`"] --> n9["x`, "`**b**`", `</text><script>alert(1)</script>`, "]]>", `\`, `\" -> "x`, "&lt;", "#quot;", "a\u0085b", "日本語", "\uffff", "--", "click n0 x", "%% no", "1. x", "- x"}
	for _, text := range nasty {
		def := chain(nil, []int{0})
		def.Name = text
		def.Steps[0].Title = text
		def.Steps[1].Guards = []mission.Guard{{Input: "x"}}
		def.Steps[1].Executor = &mission.Executor{Plugin: text}
		g := drawn(t, def)
		if lines := strings.Count(g.Mermaid(), "\n"); lines != 4 {
			t.Errorf("%q: Mermaid has %d lines:\n%s", text, lines, g.Mermaid())
		}
		for line := range strings.Lines(g.Mermaid()) {
			if !regexp.MustCompile(`^(flowchart TD|  n\d\["[^"` + "`" + `<>\[\]{}\\]*(<br>[^"` + "`" + `<>\[\]{}\\]*)*"\]|  n0 --> n1)\n$`).MatchString(line) {
				t.Errorf("%q: Mermaid: %s", text, line)
			}
		}
		for line := range strings.Lines(g.DOT()) {
			if left := regexp.MustCompile(`"([^"\\]|\\.)*"`).ReplaceAllString(line, ""); strings.Contains(left, `"`) {
				t.Errorf("%q: DOT: %s", text, line)
			}
		}
		isXML(t, svg(t, g))
	}
}

func svg(t *testing.T, g Graph) string {
	t.Helper()
	text, err := g.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What could not be read as a picture is refused, before it is laid out.
func TestTooLargeForAPicture(t *testing.T) {
	dense := make([][]int, 200)
	for i := range dense {
		for j := range i {
			dense[i] = append(dense[i], j)
		}
	}
	for want, deps := range map[string][][]int{"501 steps": make([][]int, MaxSVG+1), "too often": dense} {
		var large *TooLargeError
		if _, err := drawn(t, chain(deps...)).SVG(); !errors.As(err, &large) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// isXML gives the names and texts of a document's elements.
func isXML(t *testing.T, text string) (names, texts []string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		switch v := token.(type) {
		case xml.StartElement:
			names = append(names, v.Name.Local)
			if !slices.Contains([]string{"svg", "title", "defs", "marker", "path", "rect", "text", "g"}, v.Name.Local) {
				t.Errorf("an element %s", v.Name.Local)
			}
		case xml.CharData:
			texts = append(texts, string(v))
		}
	}
	return names, texts
}

// The picture has each step's id, and a line for each dependency.
func TestSVGHasEverything(t *testing.T) {
	g := drawn(t, everything())
	names, texts := isXML(t, svg(t, g))
	lines := 0
	for _, name := range names {
		if name == "path" {
			lines++
		}
	}
	if lines != len(g.Edges)+1 { // and the arrow's tip
		t.Errorf("%d lines for %d edges", lines, len(g.Edges))
	}
	for _, n := range g.Nodes {
		if !slices.Contains(texts, n.ID) {
			t.Errorf("%s is not in the picture", n.ID)
		}
	}
	if first, again := svg(t, g), svg(t, drawn(t, everything())); first != again {
		t.Error("two pictures of one definition differ")
	}
	if _, texts := isXML(t, svg(t, drawn(t, titled(strings.Repeat("ä", 100))))); !slices.Contains(texts, strings.Repeat("ä", maxChars-1)+"…") {
		t.Error("a long title is not cut")
	}
}

func titled(title string) *mission.Definition {
	def := chain(nil)
	def.Steps[0].Title = title
	return def
}

// Whatever waits for whatever, boxes do not overlap, lie inside of the picture,
// and each step lies below all that it waits for.
func TestLayoutHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 1 + random.IntN(40)
		deps := make([][]int, n)
		for i := range deps {
			for j := range i {
				if random.IntN(i+2) < 2 {
					deps[i] = append(deps[i], j)
				}
			}
		}
		checkLayout(t, drawn(t, chain(deps...)), fmt.Sprintf("round %d", round))
	}
	wide, deep := make([][]int, 100), make([][]int, MaxSVG)
	for i := range wide[1:] {
		wide[i+1] = []int{0}
	}
	for i := range deep[1:] {
		deep[i+1] = []int{i}
		if i > 3 {
			deep[i+1] = []int{i, i - 1, i - 3}
		}
	}
	checkLayout(t, drawn(t, chain(wide...)), "wide")
	checkLayout(t, drawn(t, chain(deep...)), "deep")
	checkLayout(t, drawn(t, everything()), "everything")
}

func checkLayout(t *testing.T, g Graph, name string) {
	t.Helper()
	p := &picture{g: g, l: newLayout(g, nodeWidth)}
	p.measure()
	for _, e := range g.Edges {
		if !e.Back && p.l.spots[e.From].layer >= p.l.spots[e.To].layer {
			t.Errorf("%s: %d is not below %d", name, e.To, e.From)
		}
	}
	for _, layer := range p.l.layers {
		for i, at := range layer {
			s := p.l.spots[at]
			if left := margin + s.x - s.width/2; left < margin-1 || left+s.width > p.width {
				t.Errorf("%s: spot %d from %.0f on, of a picture %.0f wide", name, at, left, p.width)
			}
			if i == 0 {
				continue
			}
			if before := p.l.spots[layer[i-1]]; before.x+before.width/2 > s.x-s.width/2 {
				t.Errorf("%s: spots %d and %d overlap", name, layer[i-1], at)
			}
		}
	}
	for i := range g.Nodes {
		if s := p.l.spots[i]; s.node != i || p.bottom(s) > p.height {
			t.Errorf("%s: node %d ends at %.0f, of a picture %.0f high", name, i, p.bottom(s), p.height)
		}
	}
}

// What a definition waits for as a whole is what it waits for step by step.
func TestDependenciesAreDeps(t *testing.T) {
	for _, def := range []*mission.Definition{everything(), chain(nil, nil, nil), chain([]int{2}, []int{0}, nil), chain(nil, []int{0}, nil)} {
		all, err := def.Dependencies()
		if err != nil {
			t.Fatal(err)
		}
		for pos := range def.Steps {
			want, err := def.Deps(pos)
			if err != nil || !slices.Equal(all[pos], want) {
				t.Errorf("step %d waits for %v, Deps says %v, %v", pos, all[pos], want, err)
			}
		}
	}
	if _, err := Of(chain([]int{7})); err == nil {
		t.Error("a step that waits for none was drawn")
	}
}
