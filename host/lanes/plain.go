package lanes

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spec-kitty/step-runner/host/mission"
)

// plainFront is front matter as nearly every package has it: keys at the margin,
// values and list entries in one line each, without anchors, tags, escapes or
// nesting. Reading it so takes a tenth of what the YAML package takes, in every
// call of next, for every package. Whatever is not plainly right is left to that
// package, which also finds the words for what is wrong: the two never differ on
// what both take.
type plainFront struct {
	values map[string]plainValue
	key    string // whose list may go on; "" where no entry may follow
	indent int    // of that list's entries; -1 before the first
}

type plainValue struct {
	line    int // of the value in the file; 0 for none
	text    string
	list    []string
	hasText bool
	hasList bool
}

// readPlain reads front matter; ok is false where it is not plain.
func readPlain(front []byte) (p plainFront, ok bool) {
	p.values = map[string]plainValue{}
	line := frontLine(0)
	for text := range bytes.Lines(front) {
		line++
		if !p.line(line, strings.TrimRight(string(text), " \n")) {
			return p, false
		}
	}
	return p, len(p.values) > 0
}

// into fills a package; ok is false where a field is missing or not as it should
// be.
func (p plainFront) into(pkg *Package) (ok bool) {
	id, title := p.values["work_package_id"], p.values["title"]
	pkg.ID, pkg.idLine = strings.TrimSpace(id.text), id.line
	pkg.Title = strings.TrimSpace(title.text)
	if id.hasList || title.hasList || mission.CheckName(pkg.ID) != nil {
		return false
	}
	depends, subtasks := p.values["dependencies"], p.values["subtasks"]
	if !depends.isList() || !subtasks.isList() {
		return false
	}
	for _, dep := range depends.list {
		if mission.CheckName(dep) != nil {
			return false
		}
		if !slices.Contains(pkg.DependsOn, dep) {
			pkg.DependsOn = append(pkg.DependsOn, dep)
		}
	}
	pkg.dependsLine, pkg.Subtasks = depends.line, subtasks.list
	return true
}

// isList also holds for nothing, and for the text that stands for an empty list.
func (v plainValue) isList() bool { return !v.hasText || isEmptyList(v.text) }

func (p *plainFront) line(number int, text string) bool {
	switch trimmed := strings.TrimLeft(text, " "); {
	case trimmed == "":
		return true
	case text[0] == '#':
		return isPrintable(text)
	case strings.HasPrefix(trimmed, "- "):
		return p.entry(number, len(text)-len(trimmed), trimmed[2:])
	}
	key, rest, found := strings.Cut(text, ":")
	if _, twice := p.values[key]; !found || twice || !isPlainKey(key) || rest != "" && rest[0] != ' ' {
		return false
	}
	p.key, p.indent = "", -1
	rest = strings.TrimLeft(rest, " ")
	if rest == "" {
		p.key = key
		p.values[key] = plainValue{}
		return true
	}
	value, ok := readPlainValue(rest)
	value.line = number
	p.values[key] = value
	return ok
}

func (p *plainFront) entry(number, indent int, text string) bool {
	value, ok := plainScalar(strings.TrimLeft(text, " "))
	if !ok || p.key == "" || p.indent >= 0 && p.indent != indent {
		return false
	}
	list := p.values[p.key]
	if p.indent < 0 {
		p.indent, list.line, list.hasList = indent, number, true
	}
	list.list = append(list.list, strings.TrimSpace(value))
	p.values[p.key] = list
	return true
}

func readPlainValue(text string) (plainValue, bool) {
	if text[0] != '[' {
		scalar, ok := plainScalar(text)
		return plainValue{text: scalar, hasText: true}, ok
	}
	inner, closed := strings.CutSuffix(text[1:], "]")
	if !closed {
		return plainValue{}, false
	}
	value := plainValue{hasList: true}
	if strings.TrimLeft(inner, " ") == "" {
		return value, true
	}
	for item := range strings.SplitSeq(inner, ",") {
		item = strings.Trim(item, " ")
		if !isPlainKey(item) {
			return plainValue{}, false
		}
		value.list = append(value.list, item)
	}
	return value, true
}

// plainScalar is a text that means itself in YAML, or one in quotes with nothing
// in it that the quotes change.
func plainScalar(text string) (string, bool) {
	if text == "" || !isPrintable(text) {
		return "", false
	}
	if q := text[0]; q == '"' || q == '\'' {
		inner, closed := strings.CutSuffix(text[1:], string(q))
		return inner, closed && !strings.ContainsAny(inner, `"'\`)
	}
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case first < utf8.RuneSelf && !isKeyByte(text[0]),
		strings.Contains(text, ": "), strings.Contains(text, " #"), strings.HasSuffix(text, ":"),
		strings.EqualFold(text, "null"):
		return "", false
	}
	return text, true
}

func isPrintable(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// isPlainKey also holds for what may stand in a list between brackets.
func isPlainKey(text string) bool {
	for i := range len(text) {
		if !isKeyByte(text[i]) && (i == 0 || text[i] != '-' && text[i] != '.') {
			return false
		}
	}
	return text != "" && len(text) <= mission.MaxName
}

func isKeyByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}
