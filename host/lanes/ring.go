package lanes

import "strings"

// checkRings names each ring of packages that wait for one another, once. All
// dependencies are known. It keeps its own stack, so that a chain of any length
// fits.
func checkRings(all []Package, byID map[string]int) []error {
	w := ringWalk{all: all, byID: byID, state: make([]visit, len(all))}
	for i := range all {
		if w.state[i] == unseen {
			w.from(i)
		}
	}
	return w.faults
}

type visit uint8

const (
	unseen visit = iota
	open         // on the way that is being walked
	closed       // walked to the end
)

type ringWalk struct {
	all    []Package
	byID   map[string]int
	state  []visit
	way    []int // the packages on the way, each depending on the next
	next   []int // for each on the way, which dependency comes next
	faults []error
}

func (w *ringWalk) from(start int) {
	w.enter(start)
	for len(w.way) > 0 {
		top := len(w.way) - 1
		deps := w.all[w.way[top]].DependsOn
		if w.next[top] == len(deps) {
			w.state[w.way[top]] = closed
			w.way, w.next = w.way[:top], w.next[:top]
			continue
		}
		dep := w.byID[deps[w.next[top]]]
		w.next[top]++
		switch w.state[dep] {
		case unseen:
			w.enter(dep)
		case open:
			w.report(dep)
		}
	}
}

func (w *ringWalk) enter(i int) {
	w.state[i] = open
	w.way = append(w.way, i)
	w.next = append(w.next, 0)
}

func (w *ringWalk) report(dep int) {
	at := 0
	for w.way[at] != dep {
		at++
	}
	var ids []string
	for _, i := range w.way[at:] {
		ids = append(ids, w.all[i].ID)
	}
	ids = append(ids, w.all[dep].ID)
	p := w.all[dep]
	w.faults = append(w.faults, &FileError{
		Path: p.Path, Line: p.dependsLine,
		Why: "packages wait for one another: " + strings.Join(ids, " → "),
		Fix: "take one of these dependencies out",
	})
}
