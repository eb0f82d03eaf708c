package mission

import (
	"encoding/json"
	"slices"
)

// Difference is what one definition has otherwise than another, by step ids.
type Difference struct {
	Added   []string     // in the order of the new one
	Removed []string     // in the order of the old one
	Moved   []string     // steps of both whose place among those of both is another
	Changed []StepChange // steps of both that read otherwise
}

// StepChange names the keys of a step that read otherwise.
type StepChange struct {
	Step  string
	Parts []string
}

// Compare tells how one definition differs from an older one.
func Compare(older, newer *Definition) (Difference, error) {
	before, after := positionsByID(older), positionsByID(newer)
	var d Difference
	var was, is []string // the steps of both, in either order
	for _, s := range older.Steps {
		if _, both := after[s.ID]; both {
			was = append(was, s.ID)
		} else {
			d.Removed = append(d.Removed, s.ID)
		}
	}
	for _, s := range newer.Steps {
		if _, both := before[s.ID]; both {
			is = append(is, s.ID)
		} else {
			d.Added = append(d.Added, s.ID)
		}
	}
	for i, id := range is {
		if was[i] != id {
			d.Moved = append(d.Moved, id)
		}
	}
	waited, err := older.Dependencies()
	if err != nil {
		return d, err
	}
	waits, err := newer.Dependencies()
	if err != nil {
		return d, err
	}
	for _, id := range is {
		parts, err := otherParts(older.Steps[before[id]], newer.Steps[after[id]])
		if err != nil {
			return d, err
		}
		if !slices.Equal(idsAt(older, waited[before[id]]), idsAt(newer, waits[after[id]])) {
			parts = append(parts, "depends_on")
		}
		if len(parts) > 0 {
			d.Changed = append(d.Changed, StepChange{Step: id, Parts: parts})
		}
	}
	return d, nil
}

func positionsByID(d *Definition) map[string]int {
	at := make(map[string]int, len(d.Steps))
	for pos, s := range d.Steps {
		at[s.ID] = pos
	}
	return at
}

func idsAt(d *Definition, positions []int) []string {
	var ids []string
	for _, pos := range positions {
		ids = append(ids, d.Steps[pos].ID)
	}
	slices.Sort(ids)
	return ids
}

// otherParts are the keys that differ, apart from depends_on, which may differ
// without being written.
func otherParts(a, b Step) ([]string, error) {
	a.DependsOn, b.DependsOn = nil, nil
	before, err := keysOf(a)
	if err != nil {
		return nil, err
	}
	after, err := keysOf(b)
	if err != nil {
		return nil, err
	}
	var parts []string
	for key, value := range before {
		if string(after[key]) != string(value) {
			parts = append(parts, key)
		}
	}
	for key := range after {
		if _, both := before[key]; !both {
			parts = append(parts, key)
		}
	}
	slices.Sort(parts)
	return parts, nil
}

func keysOf(s Step) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	return keys, json.Unmarshal(raw, &keys)
}
