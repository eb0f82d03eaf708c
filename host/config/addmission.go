package config

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// WithMission is the text of a configuration in which the mission type has its
// definition in this file, with the line (from 1) of its table; every other byte
// is as it was. Where it says so already the text is the same. A type of that
// name, in whatever letter case, that is defined otherwise is an *InvalidError:
// it is not replaced. The result was read again, and holds nothing else that is
// new.
func WithMission(text []byte, missionType, file string) (added []byte, line int, err error) {
	_, before, err := parse(FileName, text)
	if err != nil {
		return nil, 0, err
	}
	at := "missions." + quoted(missionType)
	lines := locate(plainText(text))
	for name, there := range tableAt(before, "missions") {
		if mission.Fold(name) != mission.Fold(missionType) {
			continue
		}
		table, _ := there.(map[string]any)
		if is, _ := table["file"].(string); name == missionType && is != "" && path.Clean(is) == path.Clean(file) && len(table) == 1 {
			return text, cmp.Or(lines.of(at), lines.of(at+".file")), nil
		}
		return nil, 0, &InvalidError{Problems: []Problem{{File: FileName, Line: lines.of("missions." + quoted(name)), Path: "missions." + quoted(name),
			Message: "is defined already, and not by " + file}}}
	}
	out := appended(string(text), fmt.Sprintf("[%s]\nfile = %q\n", at, file))
	_, after, err := parse(FileName, []byte(out))
	if err != nil || closed(text) || !onlyAdded(before, after, missionType, file) {
		return nil, 0, &InvalidError{Problems: []Problem{{File: FileName, Line: lines.of("missions"), Path: "missions",
			Message: fmt.Sprintf("is written in a way that cannot be added to safely: write %s.file = %q yourself", at, file)}}}
	}
	return []byte(out), locate(plainText([]byte(out))).of(at), nil
}

// appended puts a table behind a text, with its kind of line ends.
func appended(text, table string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		table = "\n" + table
	}
	table = "\n" + table
	if strings.Contains(text, "\r\n") {
		table = strings.ReplaceAll(table, "\n", "\r\n")
	}
	return text + table
}

// closed tells whether the types stand in one inline table: TOML allows nothing
// to be added to it further down, whatever a library makes of that.
func closed(text []byte) bool {
	s := &scanner{text: plainText(text), lines: lines{}, counts: map[string]int{}, pairs: map[string]pair{}}
	s.all()
	_, inline := s.pairs["missions"]
	return inline
}

// onlyAdded tells whether the type is all that differs.
func onlyAdded(before, after map[string]any, missionType, file string) bool {
	if is := tableAt(after, "missions", missionType); len(is) != 1 || is["file"] != file {
		return false
	}
	types := maps.Clone(tableAt(after, "missions"))
	delete(types, missionType)
	had := tableAt(before, "missions")
	after = maps.Clone(after)
	delete(after, "missions")
	before = maps.Clone(before)
	delete(before, "missions")
	return (len(types) == 0 && len(had) == 0 || reflect.DeepEqual(types, had)) && reflect.DeepEqual(before, after)
}

// Defining is the configuration with one more mission type, in memory.
func (c *Config) Defining(missionType, file string) *Config {
	with := *c
	with.Missions = maps.Clone(c.Missions)
	if with.Missions == nil {
		with.Missions = map[string]Mission{}
	}
	with.Missions[missionType] = Mission{Type: missionType, File: file}
	return &with
}
