package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// Bounds of what is read, in bytes, and of its nesting: the library goes one
// call deeper with each open bracket, and takes seconds for a thousand.
const (
	maxConfig     = 1 << 20
	maxDefinition = 16 << 20
	maxPromptFile = 1 << 20
	maxDepth      = 100
)

// ReadText reads a configuration, whose text is to be changed: a regular file of at
// most 1 MiB, its bytes as they are.
func ReadText(file string) ([]byte, error) { return readFile(file, maxConfig) }

// readFile reads a regular file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	data, _, err := readonly.Path(path, limit)
	return data, err
}

// plainText takes off the UTF-8 mark and makes CRLF LF, so that a definition
// means the same, and has the same digest, on every system.
func plainText(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return string(data)
}

// source is a file's text, kept to find lines in it if something is wrong.
type source struct {
	file string
	text string
}

// parse reads TOML into plain tables. A syntax error is an *InvalidError with
// its line.
func parse(file string, data []byte) (*source, map[string]any, error) {
	src := &source{file: file, text: plainText(data)}
	if problem := src.unreadable(); problem != nil {
		return nil, nil, &InvalidError{Problems: []Problem{*problem}}
	}
	values := map[string]any{}
	if _, err := toml.Decode(src.text, &values); err != nil {
		return nil, nil, &InvalidError{Problems: []Problem{src.syntax(err)}}
	}
	return src, values, nil
}

func (s *source) unreadable() *Problem {
	switch deep, what := tooDeep(s.text); {
	case what != "":
		return &Problem{File: s.file, Line: 1 + strings.Count(s.text[:deep], "\n"), Message: fmt.Sprintf("more than %d %s", maxDepth, what)}
	case !utf8.ValidString(s.text):
		valid := strings.ToValidUTF8(s.text, "\x00")
		return &Problem{File: s.file, Line: 1 + strings.Count(valid[:strings.IndexByte(valid, 0)], "\n"), Message: "is not UTF-8"}
	}
	return nil
}

// tooDeep is where brackets first lie more than maxDepth deep, or a key has so many
// dots; what is "" where they never do. The library follows both, and keeps of a key
// all that it begins with: one of a megabyte would take terabytes. A short file cannot
// hold that many and is not gone over.
func tooDeep(text string) (at int, what string) {
	if strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth && !dotted(text) {
		return 0, ""
	}
	s, depth, dots := &scanner{text: text}, 0, 0
	for s.pos < len(text) {
		c := text[s.pos]
		switch c {
		case '.':
			dots++
		case '"', '\'':
			s.quoted(c)
			continue
		case '#':
			s.toLineEnd()
			continue
		case '[', '{':
			depth++
			dots = 0
		case ']', '}':
			depth--
			dots = 0
		case '\n', '=', ',':
			dots = 0
		}
		switch {
		case depth > maxDepth:
			return s.pos, "brackets in one another"
		case dots > maxDepth:
			return s.pos, "dots in one key"
		}
		s.pos++
	}
	return 0, ""
}

// dotted tells whether a line has more dots than a key may have.
func dotted(text string) bool {
	if strings.Count(text, ".") <= maxDepth {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.Count(line, ".") > maxDepth {
			return true
		}
	}
	return false
}

func (s *source) syntax(err error) Problem {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return Problem{File: s.file, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return Problem{File: s.file, Line: parse.Position.Line, Path: shown(parse.LastKey), Message: shown(parse.Message)}
}

// shown is text of the file that is safe to show on a terminal.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// invalid makes the error out of all that was found, with lines, in the order
// of the file.
func (s *source) invalid(r *reading) error {
	r.explainUnknown()
	lines := locate(s.text)
	for i := range r.problems {
		if p := &r.problems[i]; p.File == s.file && p.Line == 0 {
			p.Line = lines.of(p.Path)
		}
	}
	return invalid(r.problems)
}

func invalid(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return &InvalidError{Problems: slices.Compact(problems)}
}
