package journal

import (
	"bytes"
	"encoding/json"
)

// scanner cuts a line in the layout that Encode writes. Once something does
// not fit, ok is false and stays so.
type scanner struct {
	rest []byte
	ok   bool
}

func (s *scanner) has(lit string) bool {
	return len(s.rest) >= len(lit) && string(s.rest[:len(lit)]) == lit
}

func (s *scanner) literal(lit string) {
	if !s.has(lit) {
		s.ok = false
		return
	}
	s.rest = s.rest[len(lit):]
}

// number reads up to 19 digits, which cannot overflow.
func (s *scanner) number() uint64 {
	var n uint64
	i := 0
	for ; i < len(s.rest) && i < 19 && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	if i == 0 {
		s.ok = false
	}
	s.rest = s.rest[i:]
	return n
}

// text reads a JSON string.
func (s *scanner) text() string {
	end := -1
	if s.has(`"`) {
		end = closingQuote(s.rest)
	}
	if end < 0 {
		s.ok = false
		return ""
	}
	quoted := s.rest[:end+1]
	s.rest = s.rest[end+1:]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:end])
	}
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		s.ok = false
	}
	return out
}

// closingQuote is the place of the quote that ends the string b begins with,
// -1 where there is none, or a control character before it, which JSON forbids.
func closingQuote(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\':
			i++
		case c == '"':
			return i
		case c < ' ':
			return -1
		}
	}
	return -1
}
