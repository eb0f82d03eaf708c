package lanes

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/spec-kitty/step-runner/host/mission"
)

// fieldReader takes the fields of one front matter and gathers what is wrong
// with them.
type fieldReader struct {
	path   string
	fields map[string]*yaml.Node
	faults []error
}

func (r *fieldReader) fail(n *yaml.Node, why, fix string) {
	r.faults = append(r.faults, &FileError{Path: r.path, Line: frontLine(n.Line), Why: why, Fix: fix})
}

// node is a key's value behind its alias; nil where there is none or it is null.
func (r *fieldReader) node(key string) *yaml.Node {
	n := r.fields[key]
	if n == nil {
		return nil
	}
	if n = target(n); n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

func (r *fieldReader) id(key string) (string, int) {
	n := r.node(key)
	if n == nil {
		r.faults = append(r.faults, &FileError{Path: r.path, Line: 1, Why: "front matter has no " + key, Fix: "write " + key + ": WP01"})
		return "", 0
	}
	if n.Kind != yaml.ScalarNode {
		r.fail(n, key+" is not text", "")
		return "", 0
	}
	id := strings.TrimSpace(n.Value)
	if err := mission.CheckName(id); err != nil {
		r.fail(n, fmt.Sprintf("%s is no id: %v", key, err), "")
		return "", 0
	}
	return id, frontLine(n.Line)
}

func (r *fieldReader) text(key string) string {
	n := r.node(key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		r.fail(n, key+" is not text", "")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// list is a list of scalars; the text "[]", which an existing tool writes, is an
// empty one.
func (r *fieldReader) list(key string) ([]string, int) {
	n := r.node(key)
	if n == nil {
		return nil, 0
	}
	if n.Kind == yaml.ScalarNode && isEmptyList(n.Value) {
		return nil, frontLine(n.Line)
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, key+" is not a list", "write "+key+": [WP01, WP02], or [] for none")
		return nil, 0
	}
	var values []string
	for _, item := range n.Content {
		value, ok := entry(item)
		if !ok {
			r.fail(item, key+" has an entry that is neither text nor has an id", "")
			continue
		}
		values = append(values, value)
	}
	return values, frontLine(n.Line)
}

// entry is a list's entry: a scalar, or the id of an object, as some projects
// write subtasks.
func entry(n *yaml.Node) (string, bool) {
	n = target(n)
	if n.Kind != yaml.MappingNode {
		return strings.TrimSpace(n.Value), n.Kind == yaml.ScalarNode
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if value := target(n.Content[i+1]); n.Content[i].Value == "id" {
			return strings.TrimSpace(value.Value), value.Kind == yaml.ScalarNode
		}
	}
	return "", false
}

// target is the node behind an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isEmptyList(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "[]"
}

// names is a list of ids, each once.
func (r *fieldReader) names(key string) ([]string, int) {
	values, line := r.list(key)
	seen := map[string]bool{}
	var ids []string
	for _, id := range values {
		switch err := mission.CheckName(id); {
		case err != nil:
			r.faults = append(r.faults, &FileError{Path: r.path, Line: line, Why: fmt.Sprintf("%s has what is no id: %v", key, err)})
		case !seen[id]:
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, line
}
