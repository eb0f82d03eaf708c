package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// AnswerError says what is wrong with an answer, to its author.
type AnswerError struct {
	Where string // a path in the answer such as reasons[0].message, or ""
	Why   string // a sentence
}

func (e *AnswerError) Error() string {
	if e.Where == "" {
		return e.Why
	}
	return e.Where + ": " + e.Why
}

// DecodeGuard reads a guard's answer. The error is an *AnswerError.
func DecodeGuard(stdout []byte) (GuardAnswer, error) {
	return decode(stdout, GuardAnswer.check)
}

// DecodeExecute reads an executor's answer. The error is an *AnswerError.
func DecodeExecute(stdout []byte) (ExecuteAnswer, error) {
	return decode(stdout, ExecuteAnswer.check)
}

// DecodeDescribe reads a description. The error is an *AnswerError.
func DecodeDescribe(stdout []byte) (DescribeAnswer, error) {
	return decode(stdout, DescribeAnswer.check)
}

func decode[A any](stdout []byte, check func(A) error) (A, error) {
	var none, a A
	tree, err := parse(stdout)
	if err != nil {
		return none, err
	}
	if err := fits(tree, reflect.TypeFor[A](), ""); err != nil {
		return none, err
	}
	if err := json.Unmarshal(stdout, &a); err != nil {
		return none, &AnswerError{Why: fmt.Sprintf("the answer cannot be read: %v", err)}
	}
	if err := check(a); err != nil {
		return none, err
	}
	if err := lacks(tree, reflect.TypeFor[A](), ""); err != nil {
		return none, err
	}
	return a, nil
}

// parse reads exactly one JSON object.
func parse(stdout []byte) (any, error) {
	if len(stdout) > MaxAnswer {
		return nil, &AnswerError{Why: fmt.Sprintf("the answer has %d bytes, at most %d are allowed", len(stdout), MaxAnswer)}
	}
	if !utf8.Valid(stdout) {
		return nil, &AnswerError{Why: "the answer is not UTF-8: write JSON in UTF-8 and nothing else to stdout"}
	}
	text := bytes.TrimLeft(stdout, " \t\r\n")
	if len(text) == 0 {
		return nil, &AnswerError{Why: "stdout is empty: write one JSON object to stdout before you exit with 0"}
	}
	if text[0] != '{' {
		return nil, stray("stdout begins with", text)
	}
	d := &parser{Decoder: json.NewDecoder(bytes.NewReader(stdout))}
	d.UseNumber()
	tree, err := d.value(1, "")
	if err != nil {
		return nil, syntax(err, text)
	}
	if rest := bytes.TrimLeft(stdout[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, stray("after the answer stdout goes on with", rest)
	}
	if half := loneSurrogate(stdout); half != "" {
		return nil, &AnswerError{Why: fmt.Sprintf("the answer holds the escape %s, half a character, which no text can hold: write whole characters (was one cut in two?)", half)}
	}
	return tree, nil
}

// stray is the commonest fault of all: a print for debugging.
func stray(what string, text []byte) error {
	return &AnswerError{Why: fmt.Sprintf("%s %q, but stdout holds one JSON object and nothing else: print logs to stderr", what, head(text))}
}

func syntax(err error, text []byte) error {
	if a, ok := err.(*AnswerError); ok {
		return a
	}
	if strings.Contains(err.Error(), "unexpected EOF") || err.Error() == "EOF" {
		return &AnswerError{Why: fmt.Sprintf("the JSON object that begins with %q is cut off: write all of it before you exit", head(text))}
	}
	return &AnswerError{Why: fmt.Sprintf("the answer that begins with %q is not JSON (%v); stdout holds one JSON object and nothing else: print logs to stderr", head(text), err)}
}

// head is the beginning of a text, cut at a rune.
func head(text []byte) string {
	const most = 60
	if len(text) <= most {
		return string(text)
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}

// parser counts what it reads: of small values a megabyte holds so many that to look
// at them takes longer than most plugins run.
type parser struct {
	*json.Decoder
	values int
}

// value reads the next value; objects become map[string]any.
func (d *parser) value(depth int, where string) (any, error) {
	if d.values++; d.values > MaxValues {
		return nil, &AnswerError{Why: fmt.Sprintf("the answer holds more than %d values", MaxValues)}
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth > MaxDepth {
		return nil, &AnswerError{Where: where, Why: fmt.Sprintf("lists and objects are inside each other more than %d deep", MaxDepth)}
	}
	if delim == '[' {
		return d.list(depth, where)
	}
	return d.object(depth, where)
}

func (d *parser) list(depth int, where string) (any, error) {
	items := []any{}
	for d.More() {
		item, err := d.value(depth+1, fmt.Sprintf("%s[%d]", where, len(items)))
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.Token()
	return items, err
}

func (d *parser) object(depth int, where string) (any, error) {
	fields := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder lets nothing else be a key
		at := join(where, key)
		if _, twice := fields[key]; twice {
			return nil, &AnswerError{Where: at, Why: "this key is there twice: write it once"}
		}
		if fields[key], err = d.value(depth+1, at); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return fields, err
}

func join(where, key string) string {
	if len(key) > MaxName {
		key = head([]byte(key))
	}
	key = strings.Trim(fmt.Sprintf("%q", key), `"`)
	if where == "" {
		return key
	}
	return where + "." + key
}
