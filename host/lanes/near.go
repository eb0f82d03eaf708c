package lanes

import (
	"cmp"
	"slices"
	"strings"
)

// nearest is how many names a "did you mean" lists.
const nearest = 3

// near lists the slugs that look like handle, the nearest first.
func near(handle string, all []Mission) []string {
	type candidate struct {
		slug     string
		distance int
	}
	var found []candidate
	for _, m := range all {
		if d, ok := apart(handle, m); ok {
			found = append(found, candidate{m.Slug, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range found[:min(len(found), nearest)] {
		names = append(names, c.slug)
	}
	return names
}

// apart is how far a handle is from a mission's name; ok is false where it is
// too far to be a slip of the hand.
func apart(handle string, m Mission) (int, bool) {
	handle, slug := strings.ToLower(handle), strings.ToLower(m.Slug)
	if strings.Contains(slug, handle) || strings.HasPrefix(strings.ToLower(m.ID), handle) {
		return 0, true
	}
	d := min(distance(handle, slug), distance(handle, bare(slug)))
	return d, d <= max(2, len(handle)/4)
}

// nearName is the name that differs from id by a slip of the hand, or "".
func nearName(id string, names []string) string {
	best, limit := "", max(1, len(id)/4)+1
	for _, name := range names {
		if d := distance(strings.ToLower(id), strings.ToLower(name)); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// distance counts the letters to add, drop or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
