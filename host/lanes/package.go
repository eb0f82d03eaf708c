package lanes

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Package is one work package as its file says it. Values are not changed after
// they were read and may be shared.
type Package struct {
	ID        string
	Title     string // the id where the file gives none
	Path      string // absolute
	Body      string // all after the front matter, with LF line ends
	DependsOn []string
	Subtasks  []string

	idLine, dependsLine int // for messages
}

// Check looks at packages together: every dependency is there and no package
// waits for itself. All faults come back at once, each a *FileError, joined.
func Check(all []Package) error {
	faults := checkIDs(all)
	byID := make(map[string]int, len(all))
	for i, p := range all {
		byID[p.ID] = i
	}
	for _, p := range all {
		faults = append(faults, p.checkDependencies(byID)...)
	}
	if len(faults) == 0 {
		faults = append(faults, checkRings(all, byID)...)
	}
	return errors.Join(faults...)
}

// checkIDs refuses one id in two files, and ids that only the case of letters
// tells apart: some file systems cannot.
func checkIDs(all []Package) []error {
	var faults []error
	first := map[string]Package{}
	for _, p := range all {
		folded := mission.Fold(p.ID)
		other, twice := first[folded]
		if !twice {
			first[folded] = p
			continue
		}
		why := fmt.Sprintf("work_package_id %s is also in %s", p.ID, filepath.Base(other.Path))
		if other.ID != p.ID {
			why = fmt.Sprintf("work_package_id %s differs from %s in %s only by the case of letters", p.ID, other.ID, filepath.Base(other.Path))
		}
		faults = append(faults, &FileError{Path: p.Path, Line: p.idLine, Why: why, Fix: "give each package an id of its own"})
	}
	return faults
}

func (p Package) checkDependencies(byID map[string]int) []error {
	var faults []error
	for _, id := range p.DependsOn {
		if _, known := byID[id]; known {
			continue
		}
		fix := "make a file tasks/" + id + "-….md, or take the dependency out"
		if name := mission.Nearest(id, slices.Collect(maps.Keys(byID))); name != "" {
			fix = "did you mean " + name + "?"
		}
		faults = append(faults, &FileError{Path: p.Path, Line: p.dependsLine, Why: p.ID + " depends on " + id + ", which no file of tasks/ has", Fix: fix})
	}
	return faults
}
