package mission

import "slices"

// Nearest is the known name that name was most likely meant to be: the one with
// the fewest letters to change, add, drop or swap, if that is at most a third
// of its length (one for short names). It is empty where nothing is near. Ties
// go to the first in alphabetical order.
func Nearest(name string, known []string) string {
	if len(name) > MaxName {
		return ""
	}
	best, least := "", len(name)
	sorted := slices.Sorted(slices.Values(known))
	for _, candidate := range sorted {
		if candidate == name || len(candidate) > MaxName {
			continue
		}
		limit := max(1, max(len(name), len(candidate))/3)
		if d := distance(Fold(name), Fold(candidate)); d <= limit && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts single letters changed, added, dropped or swapped with their
// neighbour.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
