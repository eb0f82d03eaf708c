package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/bundle"
	"github.com/spec-kitty/step-runner/host/mission"
)

// checkDefinition adds what is wrong with a definition's values, and with the plugins
// and commands that it names. base stands before the paths of an inline definition.
func checkDefinition(r *reading, cfg *Config, def *mission.Definition, base string) {
	r.explainUnknown()
	r.read = len(r.problems)
	for _, p := range def.Check() {
		r.unlessKnown(Problem{File: r.file, Path: base + p.Path, Message: p.Message, Near: p.Near})
	}
	known := cfg.PluginNames()
	for _, ref := range def.PluginReferences() {
		if _, ok := cfg.Plugins[ref.Name]; !ok && ref.Name != "" {
			r.missing(cfg, base+ref.Path, "plugins", "plugin", ref.Name, known)
		}
	}
	checkCommands(r, cfg, def, base)
}

// unlessKnown adds a problem unless one is known at that place already, or at
// what it is part of: a key of the wrong type is no missing one.
func (r *reading) unlessKnown(p Problem) {
	partOf := func(whole string) bool {
		rest, ok := strings.CutPrefix(p.Path, whole)
		return ok && whole != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	known := func(q Problem) bool { return partOf(q.Path) }
	if !slices.ContainsFunc(r.problems[:r.read], known) && !slices.ContainsFunc(r.judged, partOf) {
		r.problems = append(r.problems, p)
	}
}

// checkInline adds what is wrong with the values of inline definitions. Load
// does it only when there is something to report anyway, so that all of it is.
func (c *Config) checkInline(r *reading) {
	for _, name := range c.LoopNames() {
		if l := c.Loops[name]; l.inline != nil {
			l.inline.check(r, c, "loops."+quoted(name)+".")
		}
	}
	for _, name := range c.MissionTypes() {
		if m := c.Missions[name]; m.inline != nil {
			def := m.inline.def
			def.Steps = slices.Clone(def.Steps)
			for _, file := range m.inline.prompts {
				def.Steps[file.step].Prompt = nil // not read, so not judged
			}
			checkDefinition(r, c, &def, "missions."+quoted(name)+".")
		}
	}
}

// Validate reads the configuration and everything it names: all mission types
// and loops with their prompts, and the plugins' bytes, which must have the pinned
// digests. All that is wrong anywhere is one *InvalidError; without problems
// the definitions are returned by their types.
func Validate(root string) (*Config, map[string]*mission.Definition, error) {
	cfg, err := Load(root)
	var found *InvalidError
	if err != nil && !errors.As(err, &found) {
		return nil, nil, err
	}
	problems := cfg.checkPlugins()
	if found != nil {
		problems = append(problems, found.Problems...)
	}
	defs := map[string]*mission.Definition{}
	for _, name := range cfg.MissionTypes() {
		def, _, err := LoadMission(cfg, name)
		var bad *InvalidError
		switch {
		case errors.As(err, &bad):
			problems = append(problems, bad.news(problems)...)
		case err != nil:
			return cfg, nil, err
		default:
			defs[name] = def
		}
	}
	problems, err = cfg.checkLoops(problems)
	if err != nil {
		return cfg, nil, err
	}
	return cfg, defs, invalid(problems)
}

// news are the problems that are not among those known.
func (e *InvalidError) news(known []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(e.Problems), func(p Problem) bool { return slices.Contains(known, p) })
}

// checkPlugins compares the plugins' bytes with their pins.
func (c *Config) checkPlugins() []Problem {
	var problems []Problem
	for _, name := range c.PluginNames() {
		if p := c.Plugins[name]; p.Wasm != "" && p.SHA256 != "" {
			if key, why := c.pluginTrouble(p); why != "" {
				path := "plugins." + quoted(name) + "." + key
				problems = append(problems, Problem{File: FileName, Line: c.lineOf(path), Path: path, Message: why})
			}
		}
	}
	return problems
}

func (c *Config) pluginTrouble(p Plugin) (key, why string) {
	if err := c.CheckInside(c.WasmPath(p)); err != nil {
		return "wasm", err.Error()
	}
	data, err := readFile(c.WasmPath(p), MaxWasm)
	switch {
	case err != nil:
		return "wasm", fileTrouble(p.Wasm, err)
	case hexDigest(data) != p.SHA256:
		return PinWasm, "does not fit: the bytes of " + p.Wasm + " hash to " + hexDigest(data)
	}
	return c.folderTrouble(p)
}

// folderTrouble compares a plugin's own folder with its pin.
func (c *Config) folderTrouble(p Plugin) (key, why string) {
	if p.Dir == "" || p.DirSum == "" {
		return "", ""
	}
	packed, err := c.PackOwn(p)
	switch {
	case err != nil:
		return "dir", "cannot be shown to the plugin: " + err.Error()
	case bundle.Sum(packed) != p.DirSum:
		return PinDir, "does not fit: the files of " + p.Dir + " have " + bundle.Sum(packed)
	}
	return "", ""
}
