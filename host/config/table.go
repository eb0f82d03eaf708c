package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// table is one TOML table while it is read. Every key that is asked for counts
// as known, so the reading code is the only list of keys there is; what is left
// at done is unknown. Problems are gathered, not returned: all of them come out
// at once.
//
// The library's own decoding into structs would take Retry for retry, stop at
// the first wrong type and see the elements of an array as one.
type table struct {
	read   *reading
	up     *table
	key    string // below up
	index  int    // in the array of up's key; -1 where it is no element
	values map[string]any
	known  []string
	found  int
}

// reading is one file being read.
type reading struct {
	file     string
	heading  bool // it is a definition's file, with a heading of its own
	problems []Problem
	unknown  []unknownKey
	judged   []string // places about which all is said
	read     int      // problems of the reading itself, before values were checked
}

type unknownKey struct {
	in  *table
	key string
}

func (r *reading) root(values map[string]any) *table {
	return &table{read: r, index: -1, values: values}
}

func (r *reading) add(path, near, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Path: path, Message: fmt.Sprintf(format, args...), Near: near})
}

// path is the table's own place; names that are no bare keys are quoted.
func (t *table) path() string {
	if t.up == nil {
		return ""
	}
	path := t.up.at(t.key)
	if t.index >= 0 {
		path += "[" + strconv.Itoa(t.index) + "]"
	}
	return path
}

func (t *table) at(key string) string {
	if path := t.path(); path != "" {
		return path + "." + quoted(key)
	}
	return quoted(key)
}

// item is the place of an element of a list.
func (t *table) item(key string, i int) string {
	return t.at(key) + "[" + strconv.Itoa(i) + "]"
}

// Key is a name as a part of a TOML key: as it is, or in quotes where it has a dot.
func Key(name string) string { return quoted(name) }

func quoted(key string) string {
	bare := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
	}
	if key != "" && strings.IndexFunc(key, func(r rune) bool { return !bare(r) }) < 0 {
		return key
	}
	return strconv.Quote(key)
}

// wrong adds a problem at a key of the table.
func (t *table) wrong(key, format string, args ...any) {
	t.read.add(t.at(key), "", format, args...)
}

func (t *table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

func (t *table) get(key string) (value any, ok bool) {
	value, ok = t.values[key]
	if !slices.Contains(t.known, key) {
		t.known = append(t.known, key)
		if ok {
			t.found++
		}
	}
	return value, ok
}

// table is the table at a key; nil where there is none.
func (t *table) table(key string) *table {
	values, ok := typed[map[string]any](t, key, "a table")
	if !ok {
		return nil
	}
	return &table{read: t.read, up: t, key: key, index: -1, values: values}
}

// tables are the tables of the array at a key, written as [[key]] or inline.
// What is no table is an empty one, so that each keeps its place.
func (t *table) tables(key string) []*table {
	value, ok := t.get(key)
	if !ok {
		return nil
	}
	var list []*table
	element := func(i int, values map[string]any) {
		list = append(list, &table{read: t.read, up: t, key: key, index: i, values: values})
	}
	switch items := value.(type) {
	case []map[string]any:
		for i, item := range items {
			element(i, item)
		}
	case []any:
		for i, item := range items {
			values, ok := item.(map[string]any)
			element(i, values)
			if !ok {
				t.read.add(t.item(key, i), "", "a table was expected, not %s", typeName(item))
			}
		}
	default:
		t.wrong(key, "a list of tables was expected, not %s", typeName(value))
	}
	return list
}

// named are the tables below a key by their names, which must be good names
// and must not clash; sorted, so that problems come in one order.
func (t *table) named(key string) []*table {
	all := t.table(key)
	if all == nil {
		return nil
	}
	var list []*table
	folded := make(map[string]string, len(all.values))
	for _, name := range sortedKeys(all.values) {
		if err := mission.CheckName(name); err != nil {
			all.wrong(name, "%v", err)
		} else if other, clash := folded[mission.Fold(name)]; clash {
			all.wrong(name, "differs from %s only in letter case", other)
		}
		folded[mission.Fold(name)] = name
		if one := all.table(name); one != nil {
			list = append(list, one)
		}
	}
	return list
}

// done notes the keys that nobody asked for.
func (t *table) done() {
	if t.found == len(t.values) {
		return
	}
	for _, key := range sortedKeys(t.values) {
		if !slices.Contains(t.known, key) {
			t.read.unknown = append(t.read.unknown, unknownKey{in: t, key: key})
		}
	}
}
