package abi

import (
	"strconv"
	"unicode"
	"unicode/utf16"
)

// loneSurrogate is the first escape in a JSON text that is half of a pair without
// the other half, such as \ud800, or "". encoding/json reads one as U+FFFD, so
// that what is shown and kept would not be what was written.
func loneSurrogate(text []byte) string {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first := escape(text[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i++ // what is escaped may be a backslash
		case utf16.DecodeRune(first, escape(text[i+6:])) == unicode.ReplacementChar:
			return string(text[i : i+6])
		default:
			i += 11
		}
	}
	return ""
}

// escape is what an escape \uXXXX that a text begins with stands for; -1 where it
// begins with something else.
func escape(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
