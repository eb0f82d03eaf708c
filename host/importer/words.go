package importer

import (
	"strconv"
	"strings"
	"unicode"
)

// keyAt is a key in a step's path, as depends_on[1].
type keyAt struct {
	name  string
	index int // -1: none
}

// cutKey is the key behind the step in a path such as steps[3].depends_on[1].
func cutKey(path string) (step string, key keyAt, ok bool) {
	step, rest, ok := strings.Cut(path, "].")
	rest, _, _ = strings.Cut(rest, ".")
	name, index, _ := strings.Cut(rest, "[")
	n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
	if err != nil {
		n = -1
	}
	return step, keyAt{name, n}, ok
}

// oneLine is text on one line, without what would change a terminal.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// short is the beginning of a text in quotes, for a message.
func short(text string) string { return strconv.Quote(clipped(text)) }

// clipped is the beginning of a text on one line.
func clipped(text string) string {
	const most = 60
	runes := []rune(oneLine(text))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// plainLines is text with LF and without control characters that a definition
// may not hold.
func plainLines(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, text)
}

// alias is the action of today's program for a state without a command of its
// own name.
func alias(id string) string {
	switch id {
	case "discovery":
		return "research"
	case "scoping", "goals":
		return "specify"
	case "methodology", "structure", "draft":
		return "plan"
	case "tasks_outline", "tasks_packages", "tasks_finalize":
		return strings.ReplaceAll(id, "_", "-")
	case "gathering":
		return "implement"
	case "synthesis":
		return "review"
	case "output":
		return "accept"
	}
	return ""
}
