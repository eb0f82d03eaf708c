package sandbox

import "strings"

// unsafeName refuses the other spellings that Windows has for a name: streams,
// short names, separators, trailing dots and spaces.
func unsafeName(part string) bool {
	return part != "." && (strings.ContainsAny(part, `\:~`) || strings.TrimRight(part, ". ") != part)
}
