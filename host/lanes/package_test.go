package lanes_test

import (
	"fmt"
	"testing"

	"github.com/spec-kitty/step-runner/host/lanes"
)

// graph makes packages from "id: dependencies".
func graph(t *testing.T, edges ...string) []lanes.Package {
	t.Helper()
	var all []lanes.Package
	for _, edge := range edges {
		var id, deps string
		fmt.Sscanf(edge, "%s %s", &id, &deps)
		text := fmt.Sprintf("---\nwork_package_id: %s\ndependencies: [%s]\n---\n", id, deps)
		p, err := lanes.Parse(id+".md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// Case 37: rings are refused with the whole ring, once; a diamond and a long
// chain are none.
func TestRings(t *testing.T) {
	for want, edges := range map[string][]string{
		"A → A":         {"A A"},
		"A → B → A":     {"A B", "B A"},
		"A → B → C → A": {"A B", "B C", "C A", "D A"},
		"B → C → B":     {"A B", "B C", "C B"},
	} {
		err := lanes.Check(graph(t, edges...))
		wantFault(t, err, 3, want, ".md")
		if n := len(faults(err)); n != 1 {
			t.Errorf("%s: told %d times: %v", want, n, err)
		}
	}
	if err := lanes.Check(graph(t, "A B,C", "B D", "C D", "D")); err != nil {
		t.Errorf("a diamond: %v", err)
	}
	if err := lanes.Check(graph(t, "A B", "B")); err != nil {
		t.Errorf("a package that waits for a later one: %v", err)
	}
}

func TestLongChain(t *testing.T) {
	var edges []string
	for i := range 2000 {
		edges = append(edges, fmt.Sprintf("WP%d WP%d", i, i+1))
	}
	edges = append(edges, "WP2000")
	if err := lanes.Check(graph(t, edges...)); err != nil {
		t.Errorf("a chain of 2000: %v", err)
	}
}

// Case 31: a dependency that no file has is refused, naming the nearest.
func TestUnknownDependency(t *testing.T) {
	wantFault(t, lanes.Check(graph(t, "WP01", "WP02 WP99")), 3, "WP02 depends on WP99", "WP02.md")
	wantFault(t, lanes.Check(graph(t, "WP01", "WP02 wp01")), 3, "depends on wp01", "did you mean WP01?")
}

func TestIDsClash(t *testing.T) {
	wantFault(t, lanes.Check(graph(t, "WP01", "WP01")), 2, "WP01 is also in WP01.md")
	wantFault(t, lanes.Check(graph(t, "WP01", "wp01")), 2, "only by the case")
}

func TestCheckListsAllFaults(t *testing.T) {
	err := lanes.Check(graph(t, "A X", "B Y", "b"))
	if n := len(faults(err)); n != 3 {
		t.Errorf("%d faults, want 3: %v", n, err)
	}
}
