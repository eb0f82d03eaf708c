package importer

import (
	"fmt"
	"slices"

	"github.com/spec-kitty/step-runner/host/mission"
)

// table is a mapping that is read key by key; what nobody asked for is left.
type table struct {
	value
	in   *importing
	path string
	used map[string]bool
}

func (in *importing) table(v value, path string) table {
	return table{value: v, in: in, path: path, used: map[string]bool{}}
}

// top reads a file's top level; the table of a file that was refused is empty.
func (in *importing) top(f File) table {
	v, ok := in.parse(f)
	if ok && v.kind != mapped {
		in.problem(v.place, "", "", "a mapping was expected, not %s", v.kind)
	}
	return in.table(v, "")
}

func (t table) at(key string) string {
	if t.path == "" {
		return key
	}
	return t.path + "." + key
}

// take is the value of a key; a key without a value counts as missing.
func (t table) take(key string) (value, bool) {
	p, ok := t.get(key)
	if ok {
		t.used[key] = true
	}
	return p.value, ok && p.value.kind != none
}

// wrong reports a value that is not what its key wants.
func (t table) wrong(v value, key, wanted string) {
	t.in.problem(v.place, t.at(key), "", "%s was expected, not %s", wanted, v.kind)
}

// text is the first of the keys that is there.
func (t table) text(keys ...string) string {
	for _, key := range keys {
		v, ok := t.take(key)
		if !ok {
			continue
		}
		if v.kind == scalar {
			return v.text
		}
		t.wrong(v, key, "text")
	}
	return ""
}

// texts is a list of texts; one text stands for a list of one.
func (t table) texts(key string) []value {
	v, ok := t.take(key)
	switch {
	case !ok:
		return nil
	case v.kind == scalar:
		return []value{v}
	case v.kind != list:
		t.wrong(v, key, "a list of texts")
		return nil
	}
	for i, item := range v.items {
		if item.kind != scalar {
			t.wrong(item, fmt.Sprintf("%s[%d]", key, i), "text")
			return nil
		}
	}
	return v.items
}

// tables is a list of mappings.
func (t table) tables(key string) []table {
	v, ok := t.take(key)
	if !ok {
		return nil
	}
	if v.kind != list {
		t.wrong(v, key, "a list")
		return nil
	}
	var all []table
	for i, item := range v.items {
		at := fmt.Sprintf("%s[%d]", t.at(key), i)
		if item.kind != mapped {
			t.in.problem(item.place, at, "", "a mapping was expected, not %s", item.kind)
			continue
		}
		all = append(all, t.in.table(item, at))
	}
	return all
}

// below is a mapping under a key; empty where it is missing.
func (t table) below(key string) table {
	v, ok := t.take(key)
	if ok && v.kind != mapped {
		t.wrong(v, key, "a mapping")
		v = value{}
	}
	return t.in.table(v, t.at(key))
}

// rest are the pairs that nobody took. One whose key is nearly a known one that
// is missing here was misspelled, and is refused: taken for free data it would
// be lost in silence.
func (t table) rest(known ...string) []pair {
	absent := slices.DeleteFunc(slices.Clone(known), func(key string) bool { _, there := t.get(key); return there })
	var free []pair
	for _, p := range t.pairs {
		if t.used[p.key] {
			continue
		}
		if near := mission.Nearest(p.key, absent); near != "" {
			t.in.problem(p.at, t.at(p.key), near, "unknown key %q", p.key)
			continue
		}
		free = append(free, p)
	}
	return free
}
