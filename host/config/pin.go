package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// LoadUnpinned is Load for who looks after the pins: that a plugin's sha256 is
// missing, or is no digest, is not held against the file.
func LoadUnpinned(root string) (*Config, error) {
	cfg, err := Load(root)
	var found *InvalidError
	if !errors.As(err, &found) || cfg == nil {
		return cfg, err
	}
	var pins []string
	for _, name := range cfg.PluginNames() {
		pins = append(pins, "plugins."+quoted(name)+".sha256")
	}
	return cfg, invalid(slices.DeleteFunc(slices.Clone(found.Problems), func(p Problem) bool {
		return slices.Contains(pins, p.Path)
	}))
}

// WithPin is the text of a configuration in which the plugin has this sha256,
// with the line (from 1) that says so; every other byte is as it was. A plugin
// without a table, or whose table names no wasm, is an error: there is nothing
// to pin. The result was read again, and holds nothing else that is new.
func WithPin(text []byte, plugin, sha256 string) (pinned []byte, line int, err error) {
	_, before, err := parse(FileName, text)
	if err != nil {
		return nil, 0, err
	}
	// The byte order mark is no part of the first key.
	s := &scanner{text: string(text), pos: len(text) - len(strings.TrimPrefix(string(text), "\ufeff")), lines: lines{}, counts: map[string]int{}, pairs: map[string]pair{}}
	s.all()
	at := "plugins." + quoted(plugin)
	wasm, there := s.pairs[at+".wasm"]
	if !there {
		return nil, 0, &NotFoundError{What: "plugin's table with a wasm key", Name: plugin, Fix: fmt.Sprintf("write [%s] with wasm = \"FILE\" into %s first", at, FileName)}
	}
	out := ""
	if pin, ok := s.pairs[at+".sha256"]; ok {
		out = s.replaced(pin, sha256)
	} else {
		out = s.inserted(wasm, sha256)
	}
	_, after, err := parse(FileName, []byte(out))
	if err != nil || !onlyPinned(before, after, plugin, sha256) {
		return nil, 0, &InvalidError{Problems: []Problem{{File: FileName, Line: s.lines.of(at), Path: at,
			Message: fmt.Sprintf("is written in a way that cannot be changed safely: write sha256 = %q yourself", sha256)}}}
	}
	return []byte(out), locate(plainText([]byte(out))).of(at + ".sha256"), nil
}

// replaced puts the digest in the place of the value that stands there.
func (s *scanner) replaced(at pair, sha256 string) string {
	end := at.value + len(strings.TrimRight(s.text[at.value:at.valueEnd], " \t\r"))
	return s.text[:at.value] + `"` + sha256 + `"` + s.text[end:]
}

// inserted puts a pair behind that of wasm, whose key it takes but for the last
// part: on a line of its own, or behind it in an inline table.
func (s *scanner) inserted(wasm pair, sha256 string) string {
	prefix := s.text[wasm.key:wasm.keyEnd]
	prefix = prefix[:strings.LastIndex(prefix, ".")+1]
	added := prefix + `sha256 = "` + sha256 + `"`
	if wasm.inline {
		return s.text[:wasm.valueEnd] + ", " + added + s.text[wasm.valueEnd:]
	}
	begin := strings.LastIndexByte(s.text[:wasm.key], '\n') + 1
	added = strings.TrimPrefix(s.text[begin:wasm.key], "\ufeff") + added
	s.pos = wasm.valueEnd
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
func onlyPinned(before, after map[string]any, plugin, sha256 string) bool {
	is, _ := tableAt(after, "plugins", plugin)["sha256"].(string)
	return is == sha256 && reflect.DeepEqual(withoutPin(before, plugin), withoutPin(after, plugin))
}

func withoutPin(values map[string]any, plugin string) map[string]any {
	one := maps.Clone(tableAt(values, "plugins", plugin))
	delete(one, "sha256")
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
