package importer

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// resolving follows aliases and merges, within bounds.
type resolving struct {
	in      *importing
	file    string
	open    map[*yaml.Node]bool // anchors that are being followed
	values  int
	refused bool
}

func (r *resolving) refuse(at place, format string, args ...any) value {
	r.refused = true
	r.in.problem(at, "", "", format, args...)
	return value{place: at, kind: none}
}

// value resolves a node. What comes out of an alias stands where the alias does.
func (r *resolving) value(n *yaml.Node, alias place, depth int) value {
	at := alias
	if at == (place{}) {
		at = place{r.file, n.Line, n.Column}
	}
	r.values++
	switch {
	case r.refused:
		return value{place: at, kind: none}
	case r.values > maxValues:
		return r.refuse(at, "with its aliases the file has more than %d values", maxValues)
	case depth > maxDepth:
		return r.refuse(at, "is nested more than %d deep", maxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if r.open[n.Alias] {
			return r.refuse(at, "the anchor %q holds itself", n.Value)
		}
		r.open[n.Alias] = true
		defer delete(r.open, n.Alias)
		return r.value(n.Alias, at, depth+1)
	case yaml.ScalarNode:
		return r.scalar(n, at)
	case yaml.SequenceNode:
		v := value{place: at, kind: list}
		for _, item := range n.Content {
			v.items = append(v.items, r.value(item, alias, depth+1))
		}
		return r.collection(n, v, "!!seq")
	}
	return r.collection(n, r.mapping(n, at, alias, depth), "!!map")
}

func (r *resolving) collection(n *yaml.Node, v value, tag string) value {
	if n.ShortTag() != tag {
		return r.refuse(v.place, "the tag %s is not known", n.Tag)
	}
	return v
}

func (r *resolving) scalar(n *yaml.Node, at place) value {
	v := value{place: at, kind: scalar, text: n.Value, tag: n.ShortTag(), plain: n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0}
	switch v.tag {
	case "!!null":
		v.kind = none
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	case "!!merge":
		v.tag = "!!str"
	default:
		return r.refuse(at, "the tag %s is not known", n.Tag)
	}
	return v
}

// mapping resolves pairs and merges. A key that stands twice is refused: which
// of them was meant, only its author knows.
func (r *resolving) mapping(n *yaml.Node, at, alias place, depth int) value {
	v := value{place: at, kind: mapped}
	var merged []value
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := r.value(n.Content[i], alias, depth+1)
		val := r.value(n.Content[i+1], alias, depth+1)
		if n.Content[i].ShortTag() == "!!merge" {
			merged = append(merged, r.merge(val)...)
			continue
		}
		if key.kind != scalar && !r.refused {
			r.refuse(key.place, "a key must be a single value, not %s", key.kind)
		}
		if first, twice := lines[key.text]; twice && !r.refused {
			r.refuse(key.place, "the key %q stands here twice, first in line %d", key.text, first)
		}
		lines[key.text] = key.line
		v.pairs = append(v.pairs, pair{key: key.text, at: key.place, value: val})
	}
	for _, from := range merged {
		for _, p := range from.pairs {
			if _, own := lines[p.key]; !own {
				v.pairs, lines[p.key] = append(v.pairs, p), p.at.line
			}
		}
	}
	return v
}

// merge is what <<: names: a mapping, or a list of them, of which the first wins.
func (r *resolving) merge(v value) []value {
	if v.kind == mapped {
		return []value{v}
	}
	if v.kind == list && !slices.ContainsFunc(v.items, func(item value) bool { return item.kind != mapped }) {
		return v.items
	}
	if !r.refused {
		r.refuse(v.place, "<< takes a mapping or a list of mappings, not %s", v.kind)
	}
	return nil
}

func (v value) get(key string) (pair, bool) {
	i := slices.IndexFunc(v.pairs, func(p pair) bool { return p.key == key })
	if i < 0 {
		return pair{}, false
	}
	return v.pairs[i], true
}

// truth reads a flag as YAML 1.1 has it, which the Python program reads.
func (v value) truth() (is, ok bool) {
	if v.kind != scalar || !v.plain {
		return false, false
	}
	switch strings.ToLower(v.text) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}
