package loop

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Protected lists which of some changed files fit one of the patterns, sorted.
// Paths are relative to the repository's root, with slashes. In a pattern **
// stands for any number of folders, also none; the rest is as in path.Match. A
// pattern without a slash fits a file of that name in the root alone.
func Protected(patterns, changed []string) []string {
	var all []string
	for _, file := range changed {
		fits := func(pattern string) bool {
			return fitsParts(strings.Split(pattern, "/"), strings.Split(file, "/"))
		}
		if slices.ContainsFunc(patterns, fits) {
			all = append(all, file)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fitsParts keeps the places after each ** that was seen, so that many of them
// cost no more than their number times the path's length.
func fitsParts(pattern, file []string) bool {
	at, star, mark := 0, -1, 0
	for i := 0; i < len(file); {
		switch {
		case at < len(pattern) && pattern[at] == "**":
			star, mark = at, i
			at++
		case at < len(pattern) && fitsPart(pattern[at], file[i]):
			at, i = at+1, i+1
		case star >= 0: // let the newest ** take one folder more
			mark++
			at, i = star+1, mark
		default:
			return false
		}
	}
	for at < len(pattern) && pattern[at] == "**" {
		at++
	}
	return at == len(pattern)
}

func fitsPart(pattern, part string) bool {
	ok, err := path.Match(pattern, part)
	return ok && err == nil
}

// CheckPattern says what is wrong with a pattern of protected files.
func CheckPattern(pattern string) error {
	switch {
	case pattern == "" || strings.HasPrefix(pattern, "/") || strings.HasSuffix(pattern, "/"):
		return fmt.Errorf("%q fits no file: a pattern such as \"**/*_test.go\" was expected, relative to the repository's root", pattern)
	case strings.Contains(pattern, `\`):
		return fmt.Errorf("%q holds a backslash: write / on every system", pattern)
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(part, ""); err != nil || part == ".." || part == "." {
			return fmt.Errorf("%q is no pattern: %q is none for a file's or folder's name", pattern, part)
		}
	}
	return nil
}
