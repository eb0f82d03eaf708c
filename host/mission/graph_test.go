package mission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// steps makes a definition from lines "id" or "id: dep dep".
func steps(lines ...string) *Definition {
	d := &Definition{Key: "t", Name: "t", Version: "1"}
	for _, line := range lines {
		id, deps, _ := strings.Cut(line, ":")
		step := Step{ID: id, Action: id}
		if deps != "" {
			step.DependsOn = strings.Fields(deps)
		}
		d.Steps = append(d.Steps, step)
	}
	return d
}

func chain(n int) *Definition {
	d := &Definition{Key: "t", Name: "t", Version: "1"}
	for i := range n {
		step := Step{ID: fmt.Sprintf("s%d", i), Action: "a"}
		if i > 0 {
			step.DependsOn = []string{fmt.Sprintf("s%d", i-1)}
		}
		d.Steps = append(d.Steps, step)
	}
	return d
}

// TestCycles is field case 37: rings are refused with all their steps named,
// and nothing else is taken for one.
func TestCycles(t *testing.T) {
	longRing := chain(200)
	longRing.Steps[0].DependsOn = []string{"s199"}
	for _, c := range []struct {
		name string
		def  *Definition
		want []Problem
	}{
		{"itself", steps("a: a"), []Problem{{Path: "steps[0].depends_on", Message: "steps wait for one another: a -> a"}}},
		{"two", steps("a: b", "b: a"), []Problem{{Path: "steps[0].depends_on", Message: "steps wait for one another: a -> b -> a"}}},
		{"three", steps("a: b", "b: c", "c: a"), []Problem{{Path: "steps[0].depends_on", Message: "steps wait for one another: a -> b -> c -> a"}}},
		{"behind a step", steps("x: b", "a: c", "b: a", "c: b"), []Problem{{Path: "steps[1].depends_on", Message: "steps wait for one another: a -> c -> b -> a"}}},
		{"two rings", steps("a: b", "b: a", "c: d", "d: c"), []Problem{
			{Path: "steps[0].depends_on", Message: "steps wait for one another: a -> b -> a"},
			{Path: "steps[2].depends_on", Message: "steps wait for one another: c -> d -> c"},
		}},
		{"diamond", steps("a", "b: a", "c: a", "d: b c"), nil},
		{"file order", steps("a", "b", "c"), nil},
		{"backwards", steps("c: b", "b: a", "a"), nil},
		{"chain of 200", chain(200), nil},
		{"chain of 20,000", chain(20_000), nil},
	} {
		if diff := cmp.Diff(c.want, c.def.Check()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	got := longRing.Check()
	if len(got) != 1 || strings.Count(got[0].Message, " -> ") != 200 {
		t.Errorf("a ring of 200: %v", got)
	}
}

func TestDeps(t *testing.T) {
	for _, c := range []struct {
		def  *Definition
		want [][]int
	}{
		{steps("a", "b", "c"), [][]int{nil, {0}, {1}}},
		{steps("a", "b: a", "c: a", "d: c b"), [][]int{{}, {0}, {0}, {2, 1}}},
		{steps("b: a", "a"), [][]int{{1}, {}}},
	} {
		for pos, want := range c.want {
			got, err := c.def.Deps(pos)
			if err != nil || cmp.Diff(want, got) != "" {
				t.Errorf("dependencies of %s: %v, %v; want %v", c.def.Steps[pos].ID, got, err, want)
			}
		}
	}
	if _, err := steps("a").Deps(1); err == nil || err.Error() != "no step at position 1: the definition has 1" {
		t.Errorf("past the end: %v", err)
	}
}

// TestFirstOpenReachesTheEnd completes the first open step over and over: each
// definition that Check accepts is walked to its end, every step once, none
// before those it waits for.
func TestFirstOpenReachesTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := randomGraph(t)
		if problems := d.Check(); problems != nil {
			t.Fatalf("refused: %v", problems)
		}
		var done Bits
		for n := range d.Len() {
			pos, ok, err := FirstOpen(d, done)
			if err != nil || !ok {
				t.Fatalf("after %d steps: %v, %v", n, ok, err)
			}
			deps, _ := d.Deps(pos)
			for _, dep := range deps {
				if !done.Has(dep) {
					t.Fatalf("%d before %d", pos, dep)
				}
			}
			done = done.With(pos)
		}
		if pos, ok, _ := FirstOpen(d, done); ok {
			t.Fatalf("step %d after the end", pos)
		}
	})
}

// randomGraph draws steps that depend on steps of lower rank, in any file order.
func randomGraph(t *rapid.T) *Definition {
	n := rapid.IntRange(1, 30).Draw(t, "steps")
	rank := rapid.Permutation(ints(n)).Draw(t, "order")
	d := &Definition{Key: "t", Name: "t", Version: "1"}
	for pos := range n {
		step := Step{ID: fmt.Sprintf("s%d", pos), Action: "a"}
		for other := range n {
			if rank[other] < rank[pos] && rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
				step.DependsOn = append(step.DependsOn, fmt.Sprintf("s%d", other))
			}
		}
		d.Steps = append(d.Steps, step)
	}
	return d
}

func ints(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
