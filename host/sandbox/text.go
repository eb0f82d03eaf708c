package sandbox

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tidy makes foreign text fit to be shown: one line, no control characters (a
// terminal would obey them), at most about most bytes, its beginning kept.
func tidy(text string, most int) string {
	var b strings.Builder
	for i, r := range text {
		if b.Len() >= most {
			b.WriteString("…")
			break
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, text[i])
				continue
			}
		}
		writeRune(&b, r)
	}
	return b.String()
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	default: // also marks that turn the direction of writing
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// tail is the escaped end of a log: its last lines, at most about most bytes.
func tail(log []byte, most int) string {
	log = []byte(strings.TrimRight(string(log[max(0, len(log)-4*most):]), "\r\n\t "))
	cut := len(log) > most
	if cut {
		log = log[len(log)-most:]
		for len(log) > 0 && !utf8.RuneStart(log[0]) {
			log = log[1:]
		}
	}
	text := tidy(string(log), 8*most)
	if cut {
		return "…" + text
	}
	return text
}
