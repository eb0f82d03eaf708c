package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of what a source may hold. Aliases are counted each time that they are
// used, so a few lines cannot stand for more than this.
const (
	MaxSource = 1 << 20 // bytes of one file
	maxValues = 100_000
	maxDepth  = 50
)

// place is where something stands; lines and columns count from 1, columns in
// characters.
type place struct {
	file         string
	line, column int
}

// value is a YAML value with its aliases followed and its merges made.
type value struct {
	place
	kind  kind
	text  string // of a scalar, as it means
	tag   string // of a scalar: !!str, !!int, !!float, !!bool, !!timestamp
	plain bool   // of a scalar: written without quotes
	items []value
	pairs []pair
}

type pair struct {
	key   string
	at    place
	value value
}

type kind string

const (
	none   kind = "nothing"
	scalar kind = "a single value"
	list   kind = "a list"
	mapped kind = "a mapping"
)

// parse reads the one document of a file. ok is false where it was refused.
func (in *importing) parse(f File) (v value, ok bool) {
	whole := place{file: f.Name}
	if len(f.Data) > MaxSource {
		in.problem(whole, "", "", "is larger than %d bytes", MaxSource)
		return value{}, false
	}
	data := bytes.TrimPrefix(f.Data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		in.problem(position(f.Name, data, firstBad(data)), "", "", "is not UTF-8")
		return value{}, false
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			in.problem(whole, "", "", "is empty")
		} else {
			in.problem(where(f.Name, data, err), "", "", "is no YAML: %s", cause(err))
		}
		return value{}, false
	}
	switch err := d.Decode(&second); {
	case err == nil:
		in.problem(place{f.Name, second.Line, max(1, second.Column)}, "", "", "a second document begins: a mission type is one")
		return value{}, false
	case !errors.Is(err, io.EOF):
		in.problem(where(f.Name, data, err), "", "", "is no YAML: %s", cause(err))
		return value{}, false
	}
	r := &resolving{in: in, file: f.Name, open: map[*yaml.Node]bool{}}
	v = r.value(doc.Content[0], place{}, 0)
	return v, !r.refused
}

func firstBad(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

func position(file string, data []byte, at int) place {
	before := string(data[:at])
	return place{file, 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])}
}

// where is the place of a fault. The parser's error has no column, and a line
// that is sometimes that of the context: so it is how far the parser read, one
// byte at a time. Only a quotation without an end is at its beginning.
func where(file string, data []byte, err error) place {
	if begin, ok := unended(data, err); ok {
		return position(file, data, begin)
	}
	r := &byteReader{data: data}
	for d := yaml.NewDecoder(r); d.Decode(new(yaml.Node)) == nil; {
		// the document before it
	}
	at := max(0, r.read-1)
	for at > 0 && (at == len(data) || data[at] == '\n') {
		at-- // it looked at the line's end, or the file's
	}
	return position(file, data, at)
}

// unended is the beginning of the line that a quotation without an end begins
// on.
func unended(data []byte, err error) (begin int, ok bool) {
	var line int
	n, _ := fmt.Sscanf(err.Error(), "yaml: line %d:", &line)
	if n != 1 || !strings.HasSuffix(err.Error(), "unexpected end of stream") {
		return 0, false
	}
	for ; line > 1; line-- {
		next := bytes.IndexByte(data[begin:], '\n')
		if next < 0 {
			return 0, false
		}
		begin += next + 1
	}
	return begin, begin < len(data)
}

// byteReader gives one byte at a time, and counts them.
type byteReader struct {
	data []byte
	read int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.data) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = r.data[r.read]
	r.read++
	return 1, nil
}

// cause is the parser's sentence without its own idea of the line.
func cause(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if _, sentence, ok := strings.Cut(rest, ": "); ok {
			text = sentence
		}
	}
	return text
}
