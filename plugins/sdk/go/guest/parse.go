package guest

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const maxDepth = 64 // lists and objects inside each other

// Parse reads one JSON document: UTF-8, nothing after the value, at most 64 lists
// and objects inside each other. A lone surrogate escape reads as U+FFFD.
func Parse(doc []byte) (Value, error) {
	if !utf8.Valid(doc) {
		return Value{}, errors.New("not UTF-8")
	}
	p := parser{doc: string(doc)}
	v := p.value(0)
	p.space()
	if p.fault == "" && p.at < len(p.doc) {
		p.fail("something follows the value")
	}
	if p.fault != "" {
		return Value{}, errors.New(p.fault + " (byte " + strconv.Itoa(p.at) + ")")
	}
	return v, nil
}

// parser stops at the first fault: then at is where, and stays.
type parser struct {
	doc   string
	at    int
	fault string
}

func (p *parser) fail(why string) {
	if p.fault == "" {
		p.fault = why
	}
}

func (p *parser) space() {
	for p.at < len(p.doc) && (p.doc[p.at] == ' ' || p.doc[p.at] == '\n' || p.doc[p.at] == '\r' || p.doc[p.at] == '\t') {
		p.at++
	}
}

// peek is the next byte, 0 at the end: no document has that byte outside a text.
func (p *parser) peek() byte {
	if p.at == len(p.doc) {
		return 0
	}
	return p.doc[p.at]
}

// take goes over this byte if it is the next.
func (p *parser) take(b byte) bool {
	if p.peek() != b || p.at == len(p.doc) {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) Value {
	p.space()
	switch b := p.peek(); {
	case b == '{' || b == '[':
		if depth == maxDepth {
			p.fail("nested too deeply")
			return Value{}
		}
		p.at++
		if b == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case b == '"':
		return Value{kind: Text, text: p.text()}
	case b == '-' || b >= '0' && b <= '9':
		return p.number()
	case b == 't':
		return p.word("true", Bool)
	case b == 'f':
		return p.word("false", Bool)
	case b == 'n':
		return p.word("null", Null)
	}
	p.fail("a value was expected")
	return Value{}
}

func (p *parser) word(word string, kind Kind) Value {
	if len(p.doc)-p.at < len(word) || p.doc[p.at:p.at+len(word)] != word {
		p.fail("a value was expected")
		return Value{}
	}
	p.at += len(word)
	return Value{kind: kind, text: word}
}

func (p *parser) array(depth int) Value {
	v := Value{kind: Array}
	if p.space(); p.take(']') {
		return v
	}
	for p.fault == "" {
		v.items = append(v.items, p.value(depth))
		if p.space(); !p.take(',') {
			p.end(']')
			break
		}
	}
	return v
}

func (p *parser) object(depth int) Value {
	v := Value{kind: Object}
	if p.space(); p.take('}') {
		return v
	}
	for p.fault == "" {
		p.space()
		v.keys = append(v.keys, p.text())
		if p.space(); p.fault == "" && !p.take(':') {
			p.fail("a colon was expected")
			break
		}
		v.items = append(v.items, p.value(depth))
		if p.space(); !p.take(',') {
			p.end('}')
			break
		}
	}
	return v
}

func (p *parser) end(bracket byte) {
	if p.fault == "" && !p.take(bracket) {
		p.fail("a comma or a closing bracket was expected")
	}
}

func (p *parser) number() Value {
	from := p.at
	p.take('-')
	if !p.take('0') {
		p.digits()
	}
	if p.take('.') {
		p.digits()
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		p.digits()
	}
	return Value{kind: Number, text: p.doc[from:p.at]}
}

func (p *parser) digits() {
	from := p.at
	for b := p.peek(); b >= '0' && b <= '9'; b = p.peek() {
		p.at++
	}
	if p.at == from {
		p.fail("a digit was expected")
	}
}

// text is a string, from its quote. Without escapes it is not copied.
func (p *parser) text() string {
	if !p.take('"') {
		p.fail("a text was expected")
		return ""
	}
	from := p.at
	var out []byte
	for p.fault == "" {
		switch b := p.peek(); {
		case p.at == len(p.doc):
			p.fail("the document is cut off")
		case b == '"':
			plain := p.doc[from:p.at]
			p.at++
			if out == nil {
				return plain
			}
			return string(append(out, plain...))
		case b < 0x20:
			p.fail("a control character in a text")
		case b == '\\':
			out = append(out, p.doc[from:p.at]...)
			p.at++
			out = p.escape(out)
			from = p.at
		default:
			p.at++
		}
	}
	return ""
}

func (p *parser) escape(out []byte) []byte {
	const names, bytes = "\"\\/bfnrt", "\"\\/\b\f\n\r\t"
	b := p.peek()
	for i := range len(names) {
		if names[i] == b {
			p.at++
			return append(out, bytes[i])
		}
	}
	r, ok := p.hex()
	if !ok {
		p.fail("an unknown escape")
		return out
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r)
	}
	mark := p.at
	if p.take('\\') {
		if low, ok := p.hex(); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(out, pair)
			}
		}
	}
	p.at = mark
	return utf8.AppendRune(out, utf8.RuneError)
}

// hex reads u and four digits.
func (p *parser) hex() (rune, bool) {
	if len(p.doc)-p.at < 5 || p.doc[p.at] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.doc[p.at+1:p.at+5], 16, 16)
	if err != nil || p.doc[p.at+1] == '+' || p.doc[p.at+1] == '-' {
		return 0, false
	}
	p.at += 5
	return rune(n), true
}
