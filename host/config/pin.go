package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The keys of a plugin's pins.
const (
	PinWasm = "sha256"     // of the file that wasm names
	PinDir  = "dir_sha256" // of the folder that dir names
)

// LoadUnpinned is Load for who looks after the pins: that one is missing, or is
// no digest, is not held against the file.
func LoadUnpinned(root string) (*Config, error) {
	cfg, err := Load(root)
	var found *InvalidError
	if !errors.As(err, &found) || cfg == nil {
		return cfg, err
	}
	var pins []string
	for _, name := range cfg.PluginNames() {
		at := "plugins." + quoted(name) + "."
		pins = append(pins, at+PinWasm, at+PinDir)
	}
	return cfg, invalid(slices.DeleteFunc(slices.Clone(found.Problems), func(p Problem) bool {
		return slices.Contains(pins, p.Path)
	}))
}

// WithPin is the text of a configuration in which the plugin's pin of this key has
// this digest, with the line (from 1) that says so; every other byte is as it was.
// A plugin without a table, or whose table does not name what is pinned (wasm, or
// dir), is an error. The result was read again, and holds nothing else that is new.
func WithPin(text []byte, plugin, key, sum string) (pinned []byte, line int, err error) {
	_, before, err := parse(FileName, text)
	if err != nil {
		return nil, 0, err
	}
	// The byte order mark is no part of the first key.
	s := &scanner{text: string(text), pos: len(text) - len(strings.TrimPrefix(string(text), "\ufeff")), lines: lines{}, counts: map[string]int{}, pairs: map[string]pair{}}
	s.all()
	at := "plugins." + quoted(plugin)
	what := pinOf(key)
	named, there := s.pairs[at+"."+what]
	if !there {
		return nil, 0, &NotFoundError{What: "plugin's table with a " + what + " key", Name: plugin, Fix: fmt.Sprintf("write [%s] with %s = \"…\" into %s first", at, what, FileName)}
	}
	out := ""
	if pin, ok := s.pairs[at+"."+key]; ok {
		out = s.replaced(pin, sum)
	} else {
		out = s.inserted(named, key, sum)
	}
	_, after, err := parse(FileName, []byte(out))
	if err != nil || !onlyPinned(before, after, plugin, key, sum) {
		return nil, 0, &InvalidError{Problems: []Problem{{File: FileName, Line: s.lines.of(at), Path: at,
			Message: fmt.Sprintf("is written in a way that cannot be changed safely: write %s = %q yourself", key, sum)}}}
	}
	return []byte(out), locate(plainText([]byte(out))).of(at + "." + key), nil
}

// pinOf is the key that names what a pin is of.
func pinOf(pin string) string {
	if pin == PinDir {
		return "dir"
	}
	return "wasm"
}

// replaced puts the digest in the place of the value that stands there.
func (s *scanner) replaced(at pair, sum string) string {
	end := at.value + len(strings.TrimRight(s.text[at.value:at.valueEnd], " \t\r"))
	return s.text[:at.value] + `"` + sum + `"` + s.text[end:]
}

// inserted puts a pair behind that of what it pins, whose key it takes but for the
// last part: on a line of its own, or behind it in an inline table.
func (s *scanner) inserted(named pair, key, sum string) string {
	prefix := s.text[named.key:named.keyEnd]
	prefix = prefix[:strings.LastIndex(prefix, ".")+1]
	added := prefix + key + ` = "` + sum + `"`
	if named.inline {
		return s.text[:named.valueEnd] + ", " + added + s.text[named.valueEnd:]
	}
	begin := strings.LastIndexByte(s.text[:named.key], '\n') + 1
	added = strings.TrimPrefix(s.text[begin:named.key], "\ufeff") + added
	s.pos = named.valueEnd
	s.toLineEnd()
	line := "\n"
	if s.text[s.pos-1] == '\r' || s.pos == len(s.text) && strings.Contains(s.text, "\r\n") {
		line = "\r\n"
	}
	if s.pos == len(s.text) {
		return s.text + line + added
	}
	return s.text[:s.pos+1] + added + line + s.text[s.pos+1:]
}

// onlyPinned tells whether the plugin's digest is all that differs.
func onlyPinned(before, after map[string]any, plugin, key, sum string) bool {
	is, _ := tableAt(after, "plugins", plugin)[key].(string)
	return is == sum && reflect.DeepEqual(withoutPin(before, plugin, key), withoutPin(after, plugin, key))
}

func withoutPin(values map[string]any, plugin, key string) map[string]any {
	one := maps.Clone(tableAt(values, "plugins", plugin))
	delete(one, key)
	all := maps.Clone(tableAt(values, "plugins"))
	all[plugin] = one
	out := maps.Clone(values)
	out["plugins"] = all
	return out
}

func tableAt(values map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		values, _ = values[key].(map[string]any)
	}
	return values
}
