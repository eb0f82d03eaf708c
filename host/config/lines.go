package config

import "strings"

// lines tells on which line a key stands. The library knows it while it reads
// and keeps it to itself, so the text is gone over once more when there is
// something to report. The text is well-formed by then; where the scan does not
// understand it all the same, a line is missing or that of the table around it.
type lines map[string]int

// of is the line of a path, or of the nearest table around it that stands in
// the file; 0 where there is none.
func (l lines) of(path string) int {
	for path != "" {
		if line, ok := l[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

func locate(text string) lines {
	s := &scanner{text: text, lines: lines{}, counts: map[string]int{}}
	s.all()
	return s.lines
}

// all goes over the whole text.
func (s *scanner) all() {
	table := ""
	for s.skipBlank(); s.pos < len(s.text); s.skipBlank() {
		start := s.pos
		if s.text[s.pos] == '[' {
			table = s.header()
		} else {
			s.pair(table)
		}
		if s.pos == start {
			s.pos++
		}
	}
}
