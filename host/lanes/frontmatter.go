package lanes

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse reads one package from its file's bytes; path is for messages. CRLF, a
// byte order mark, comments and unknown keys are taken as they come. A fault is
// a *FileError with its line, several of them joined.
func Parse(path string, data []byte) (Package, error) {
	p := Package{Path: path}
	text := bytes.ReplaceAll(trimMark(data), []byte("\r\n"), []byte("\n"))
	front, body, err := split(path, text)
	if err != nil {
		return Package{}, err
	}
	p.Body = string(body)
	if err := p.front(front); err != nil {
		return Package{}, err
	}
	if p.Title == "" {
		p.Title = p.ID
	}
	return p, nil
}

// front reads the front matter, by the YAML package where it is not plain.
func (p *Package) front(front []byte) error {
	read := *p
	if plain, ok := readPlain(front); ok && plain.into(&read) {
		*p = read
		return nil
	}
	return p.yaml(front)
}

func (p *Package) yaml(front []byte) error {
	fields, err := mapping(p.Path, front)
	if err != nil {
		return err
	}
	r := fieldReader{path: p.Path, fields: fields}
	p.ID, p.idLine = r.id("work_package_id")
	p.Title = r.text("title")
	p.DependsOn, p.dependsLine = r.names("dependencies")
	p.Subtasks, _ = r.list("subtasks")
	return errors.Join(r.faults...)
}

// split takes the front matter, between a first line --- and the next one, off
// the body.
func split(path string, text []byte) (front, body []byte, err error) {
	if !isFence(firstLine(text)) {
		return nil, nil, &FileError{Path: path, Line: 1, Why: "no front matter",
			Fix: "begin the file with a line ---, then work_package_id and title, then a line ---"}
	}
	start := lineEnd(text, 0)
	for at := start; at < len(text); at = lineEnd(text, at) {
		if isFence(firstLine(text[at:])) {
			return text[start:at], text[lineEnd(text, at):], nil
		}
	}
	return nil, nil, &FileError{Path: path, Line: 1, Why: "the front matter that begins here has no end", Fix: "close it with a line ---"}
}

func isFence(line []byte) bool {
	return bytes.Equal(bytes.TrimRight(line, " \t"), []byte("---"))
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// lineEnd is where the line after the one at begins.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// frontLine is the file's line of the front matter's line n: the fence is line 1.
func frontLine(n int) int { return n + 1 }

func mapping(path string, front []byte) (fields map[string]*yaml.Node, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		line, why := yamlFault(err)
		return nil, &FileError{Path: path, Line: line, Why: "front matter is not YAML: " + why, Err: err}
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, &FileError{Path: path, Line: 2, Why: "front matter has no keys", Fix: "write work_package_id: WP01 and title: …"}
	}
	fields = map[string]*yaml.Node{}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key := pairs[i].Value
		if _, twice := fields[key]; twice {
			return nil, &FileError{Path: path, Line: frontLine(pairs[i].Line), Why: "key " + key + " is there twice"}
		}
		fields[key] = pairs[i+1]
	}
	return fields, nil
}

// yamlFault takes the line out of the YAML package's message, which has it as
// text alone: "yaml: line 3: …". It counts from 1 where a token is wrong, and from
// 0 where one is missing.
func yamlFault(err error) (line int, why string) {
	why = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(why, "line ")
	if !ok {
		return 2, why
	}
	number, message, ok := strings.Cut(rest, ": ")
	n, convErr := strconv.Atoi(number)
	if !ok || convErr != nil {
		return 2, why
	}
	if strings.HasPrefix(message, "did not find expected") {
		n++
	}
	return frontLine(n), message
}
