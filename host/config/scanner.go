package config

import (
	"strconv"
	"strings"
)

// scanner goes over the text of a TOML file and notes where its keys stand.
type scanner struct {
	text   string
	pos    int
	lines  lines
	counts map[string]int  // of the elements of [[…]] arrays so far
	pairs  map[string]pair // where keys and values stand; nil: not wanted
	inside int             // inline tables and arrays around this place

	seen, line int // line breaks counted: line many before seen
}

// pair is where a key and its value stand: byte offsets, ends excluded.
type pair struct {
	key, keyEnd, value, valueEnd int
	inline                       bool // in an inline table, or in an array
}

// note keeps the line of a path that starts here. A definition may have ten
// thousand steps, so breaks are counted on from the last place.
func (s *scanner) note(path string) {
	if s.pos < s.seen {
		s.line -= strings.Count(s.text[s.pos:s.seen], "\n")
	} else {
		s.line += strings.Count(s.text[s.seen:s.pos], "\n")
	}
	s.seen = s.pos
	if _, ok := s.lines[path]; !ok {
		s.lines[path] = s.line + 1
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// skipBlank goes past spaces, line ends, comments and commas.
func (s *scanner) skipBlank() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r', ',':
			s.pos++
		case '#':
			s.toLineEnd()
		default:
			return
		}
	}
}

func (s *scanner) toLineEnd() {
	if end := strings.IndexByte(s.text[s.pos:], '\n'); end >= 0 {
		s.pos += end
		return
	}
	s.pos = len(s.text)
}

func (s *scanner) skipSpace() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.pos++
	}
}

// header reads [a.b] or [[a.b]] and returns the path of the table it opens: the
// last element of each array on the way.
func (s *scanner) header() string {
	start := s.pos
	s.pos++
	array := s.peek() == '['
	if array {
		s.pos++
	}
	parts := s.key()
	end := s.pos
	s.pos = start
	path := ""
	for i, part := range parts {
		path = join(path, part)
		if array && i == len(parts)-1 {
			s.counts[path]++
		}
		if n := s.counts[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
		}
		s.note(path)
	}
	s.pos = end
	s.toLineEnd()
	return path
}

// pair reads key = value in a table.
func (s *scanner) pair(table string) {
	start := s.pos
	path := table
	for _, part := range s.key() {
		path = join(path, part)
	}
	end := s.pos
	s.pos = start
	s.note(path)
	s.pos = end
	s.skipSpace()
	if s.peek() == '=' {
		s.pos++
	}
	s.skipSpace()
	value := s.pos
	s.value(path)
	if s.pairs != nil {
		s.pairs[path] = pair{key: start, keyEnd: end, value: value, valueEnd: s.pos, inline: s.inside > 0}
	}
}

// key reads a dotted key into its parts.
func (s *scanner) key() []string {
	var parts []string
	for {
		s.skipSpace()
		parts = append(parts, s.keyPart())
		s.skipSpace()
		if s.peek() != '.' {
			return parts
		}
		s.pos++
	}
}

func (s *scanner) keyPart() string {
	start := s.pos
	switch quote := s.peek(); quote {
	case '"', '\'':
		s.quoted(quote)
		part := s.text[start:s.pos]
		if plain, err := strconv.Unquote(part); err == nil && quote == '"' {
			return plain
		}
		return strings.Trim(part, string(quote))
	}
	for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n.=]#,{}[", rune(s.text[s.pos])) {
		s.pos++
	}
	return s.text[start:s.pos]
}

func (s *scanner) value(path string) {
	switch c := s.peek(); c {
	case '"', '\'':
		s.quoted(c)
	case '[':
		s.array(path)
	case '{':
		s.inline(path)
	default:
		for s.pos < len(s.text) && !strings.ContainsRune(",]}#\n", rune(s.text[s.pos])) {
			s.pos++
		}
	}
}

func (s *scanner) array(path string) {
	s.inside++
	defer func() { s.inside-- }()
	s.pos++
	for i := 0; ; i++ {
		s.skipBlank()
		start := s.pos
		if s.pos >= len(s.text) || s.peek() == ']' {
			break
		}
		element := path
		if len(path) < maxPath {
			element += "[" + strconv.Itoa(i) + "]"
		}
		s.note(element)
		s.value(element)
		if s.pos == start {
			break
		}
	}
	s.pos++
}

func (s *scanner) inline(path string) {
	s.inside++
	defer func() { s.inside-- }()
	s.pos++
	for {
		s.skipBlank()
		start := s.pos
		if s.pos >= len(s.text) || s.peek() == '}' {
			break
		}
		s.pair(path)
		if s.pos == start {
			break
		}
	}
	s.pos++
}

// quoted goes past a string of any of the four kinds.
func (s *scanner) quoted(quote byte) {
	long := strings.Repeat(string(quote), 3)
	if !strings.HasPrefix(s.text[s.pos:], long) {
		s.pos++
		s.until(quote, 1)
		return
	}
	s.pos += 3
	s.until(quote, 3)
	for i := 0; i < 2 && s.peek() == quote; i++ { // """two quotes more may close it"""""
		s.pos++
	}
}

// until goes past the next n quotes in a row.
func (s *scanner) until(quote byte, n int) {
	closing := strings.Repeat(string(quote), n)
	for s.pos < len(s.text) {
		switch {
		case s.text[s.pos] == '\\' && quote == '"':
			s.pos += 2
		case strings.HasPrefix(s.text[s.pos:], closing):
			s.pos += n
			return
		default:
			s.pos++
		}
	}
	s.pos = min(s.pos, len(s.text))
}

func join(path, key string) string {
	switch {
	case len(path) >= maxPath:
		return path
	case path == "":
		return quoted(key)
	}
	return path + "." + quoted(key)
}

// maxPath bounds paths, which deep nesting would make long without end; what is
// deeper has the line of the table around it.
const maxPath = 4 << 10
