// Package config reads spec-kitty.toml and the definitions of missions and loops
// that it names. It promises that nothing is passed over: an unknown key, a wrong type,
// a missing reference or a setting without effect is an error, and all errors
// of a file come out at once, each with its place. It writes nothing and holds
// nothing open; its functions may be called by any number of goroutines.
package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/mission"
)

// FileName is the name of a project's configuration; the folder it lies in is
// the project root.
const FileName = "spec-kitty.toml"

// Config is a project's configuration. It is not changed after Load.
type Config struct {
	Root     string // absolute path of the project root
	File     string // absolute path of the configuration
	Name     string // [project] name; the root folder's name unless set
	Runtime  Runtime
	Source   Source
	Plugins  map[string]Plugin
	Commands map[string]Command
	Missions map[string]Mission
	Loops    map[string]Loop
	Faults   []Problem // of single entries, in the order of the file; see LoadUsable

	// StateLink is where the state root lies when a link in the project leads there;
	// "" where none does.
	StateLink string
}

// Runtime is [runtime].
type Runtime struct {
	Dir          string        // state root as written: below the project root, or absolute
	SpecsDir     string        // folder of the missions' folders, below the project root
	LockTimeout  time.Duration // from 1 ms to 1 h
	RequireToken bool
	Holder       HolderRule
}

// HolderRule says who may report on an issue without its token.
type HolderRule string

// The holder rules: the holder, or for the current step anybody.
const (
	HolderOnly HolderRule = "holder"
	HolderAny  HolderRule = "any"
)

// Source says where the lanes of work packages lie.
type Source string

// The sources. Auto is kitty-specs where the mission's folder has a
// status.events.jsonl, and journal elsewhere.
const (
	SourceAuto       Source = "auto"
	SourceJournal    Source = "journal"
	SourceKittySpecs Source = "kitty-specs"
)

// Plugin is one [plugins.NAME]: where its bytes lie, what they must hash to and
// what it is granted.
type Plugin struct {
	Name    string
	Wasm    string // as written: below the project root, with slashes
	SHA256  string // 64 lower-case hexadecimal digits
	Dir     string // its own folder, as Wasm is written; empty for none
	DirSum  string // of that folder, packed (host/bundle): 64 lower-case hexadecimal digits
	Args    []string
	Read    []string // folders below the project root, "{mission}" or "{workspace}"
	Write   []string // the same, for artifacts; never the project root itself
	Env     map[string]string
	Memory  int64         // bytes, a multiple of 64 KiB
	Timeout time.Duration // of one call
	Output  int64         // bytes
	Log     int64         // bytes

	MaxRounds int // calls of an executor for one report, those with results of commands included
}

// Mission is one [missions.TYPE]: a definition in a file of its own, or inline.
type Mission struct {
	Type string
	File string // as written: below the project root, with slashes; empty for an inline one

	inline *draft
}

// StateRoot is the absolute path of the state root.
func (c *Config) StateRoot() string { return c.below(c.Runtime.Dir) }

// StateOwner is who the state root belongs to where others could name the same one:
// the project's root. It is "" where the state lies in the project.
func (c *Config) StateOwner() string {
	if c.StateLink == "" && below(c.StateRoot(), c.Root) {
		return ""
	}
	return c.Root
}

// Reserved tells whether a folder, below the project root and with slashes, lies
// in one that is not the project's to write into: git's, or the state folder.
func (c *Config) Reserved(folder string) bool {
	for _, own := range []string{".git", c.Runtime.Dir} {
		if folder == own || strings.HasPrefix(folder, own+"/") {
			return true
		}
	}
	return false
}

// SpecsDir is the absolute path of the folder that the missions' folders lie in.
func (c *Config) SpecsDir() string { return c.below(c.Runtime.SpecsDir) }

// WasmPath is the absolute path of a plugin's bytes.
func (c *Config) WasmPath(p Plugin) string { return c.below(p.Wasm) }

// OwnDir is the absolute path of a plugin's own folder, which it is shown at
// /plugin; "" for none.
func (c *Config) OwnDir(p Plugin) string {
	if p.Dir == "" {
		return ""
	}
	return c.below(p.Dir)
}

func (c *Config) below(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Root, path)
}

// MissionTypes are the names of the mission types, sorted.
func (c *Config) MissionTypes() []string { return sortedKeys(c.Missions) }

// PluginNames are the names of the plugins, sorted.
func (c *Config) PluginNames() []string { return sortedKeys(c.Plugins) }

// OnlyType is the mission type of a mission that does not name one: the only
// one defined. With none it is a *NotFoundError, with several an
// *AmbiguousError.
func (c *Config) OnlyType() (string, error) {
	types := c.MissionTypes()
	switch len(types) {
	case 0:
		return "", &NotFoundError{What: "mission type", Fix: "define one in " + FileName + ", under [missions.TYPE]"}
	case 1:
		return types[0], nil
	}
	return "", &AmbiguousError{What: "mission type", Candidates: types}
}

// mission finds a mission type.
func (c *Config) mission(name string) (Mission, error) {
	m, ok := c.Missions[name]
	if !ok {
		known := c.MissionTypes()
		return m, &NotFoundError{What: "mission type", Name: name, Known: known, Near: mission.Nearest(name, known),
			Fix: "define it in " + FileName + ", under [missions." + quoted(name) + "]"}
	}
	return m, nil
}

// DefinitionFile is the absolute path of the file that a mission type is
// defined in: its own, or the configuration for an inline one. Its size and
// time tell whether the definition may have changed.
func (c *Config) DefinitionFile(missionType string) (string, error) {
	m, err := c.mission(missionType)
	switch {
	case err != nil:
		return "", err
	case m.inline != nil:
		return c.File, nil
	}
	return c.below(m.File), nil
}

// sortedKeys are never nil.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
