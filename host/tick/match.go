package tick

import (
	"path"
	"strings"
)

// matchesAny tells whether a path, with slashes, matches one of some patterns.
// "**" stands for any number of folders, also none; within a name the patterns are
// those of path.Match.
func matchesAny(patterns []string, file string) bool {
	for _, p := range patterns {
		if match(strings.Split(p, "/"), strings.Split(file, "/")) {
			return true
		}
	}
	return false
}

func match(pattern, file []string) bool {
	switch {
	case len(pattern) == 0:
		return len(file) == 0
	case pattern[0] == "**":
		return match(pattern[1:], file) || len(file) > 0 && match(pattern, file[1:])
	case len(file) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], file[0])
	return err == nil && ok && match(pattern[1:], file[1:])
}
