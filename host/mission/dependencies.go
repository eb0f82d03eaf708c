package mission

import "fmt"

// Dependencies are, for each step, the positions that must be complete before
// it: what Deps gives, for all steps at once.
func (d *Definition) Dependencies() ([][]int, error) {
	all := make([][]int, len(d.Steps))
	if d.inFileOrder() {
		for pos := 1; pos < len(d.Steps); pos++ {
			all[pos] = []int{pos - 1}
		}
		return all, nil
	}
	places := make(map[string]int, len(d.Steps))
	for pos := len(d.Steps) - 1; pos >= 0; pos-- {
		places[d.Steps[pos].ID] = pos
	}
	for pos, step := range d.Steps {
		for _, id := range step.DependsOn {
			dep, ok := places[id]
			if !ok {
				return nil, fmt.Errorf("step %q depends on %q, which is no step", step.ID, id)
			}
			all[pos] = append(all[pos], dep)
		}
	}
	return all, nil
}
