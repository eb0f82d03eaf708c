package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// LoadUsable is Load for who goes on with what is sound: a mistake in the entry of
// one mission type, loop, plugin or command keeps only that one from being used.
// The entries that are not sound are listed in Faults; using one, or what names
// one, is an *InvalidError. What is wrong anywhere else makes the whole
// configuration invalid, as with Load.
func LoadUsable(root string) (*Config, error) {
	cfg, err := readConfig(root)
	var found *InvalidError
	if cfg == nil || !errors.As(err, &found) || !cfg.setAside(found.Problems) {
		if err == nil {
			err = cfg.checkFolders()
		}
		return cfg, err
	}
	return cfg, cfg.checkFolders()
}

// Steering is what an invalid configuration still says: where the project and its
// state lie, as far as it could be read. No entry of it can be used.
func (c *Config) Steering() *Config {
	bare := *c
	if bare.Runtime.Dir == "" {
		bare.runtime(nil)
	}
	bare.Plugins, bare.Commands, bare.Missions, bare.Loops, bare.Faults = nil, nil, nil, nil, nil
	return &bare
}

// setAside keeps the problems as faults of their entries, and takes out the
// plugins and commands that have any: nothing can use half of one. It does nothing
// where a problem is in no entry.
func (c *Config) setAside(problems []Problem) bool {
	outside := func(p Problem) bool { return c.entryOf(p.Path) == "" }
	if slices.ContainsFunc(problems, outside) {
		return false
	}
	c.Faults = problems
	for _, name := range c.PluginNames() {
		if len(c.faultsOf("plugins", name)) > 0 {
			delete(c.Plugins, name)
		}
	}
	for _, name := range c.CommandNames() {
		if len(c.faultsOf("commands", name)) > 0 {
			delete(c.Commands, name)
		}
	}
	return true
}

// entryOf is the entry that a key lies in: missions.hello; "" for none.
func (c *Config) entryOf(key string) string {
	for kind, entries := range map[string][]string{
		"plugins": c.PluginNames(), "commands": c.CommandNames(), "missions": c.MissionTypes(), "loops": c.LoopNames(),
	} {
		for _, name := range entries {
			if entry := kind + "." + quoted(name); within(key, entry) {
				return entry
			}
		}
	}
	return ""
}

// within tells whether a key is an entry, or lies in it.
func within(key, entry string) bool {
	rest, ok := strings.CutPrefix(key, entry)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// faultsOf are the faults of one entry.
func (c *Config) faultsOf(kind, name string) []Problem {
	var all []Problem
	for _, p := range c.Faults {
		if within(p.Path, kind+"."+quoted(name)) {
			all = append(all, p)
		}
	}
	return all
}

// withFaults adds what was found wrong with an entry when the configuration was
// loaded to what was found when it was read by itself.
func (c *Config) withFaults(kind, name string, err error) error {
	faults := c.faultsOf(kind, name)
	var found *InvalidError
	switch {
	case len(faults) == 0, err != nil && !errors.As(err, &found):
		return err
	case err != nil:
		faults = append(faults, found.news(faults)...)
	}
	return invalid(faults)
}

// missing adds that a name leads to no plugin or command: there is no such entry,
// or it is not sound, and then what is wrong with it is added too.
func (r *reading) missing(cfg *Config, path, kind, what, name string, known []string) {
	faults := cfg.faultsOf(kind, name)
	if len(faults) == 0 {
		r.unlessKnown(Problem{File: r.file, Path: path, Near: mission.Nearest(name, known),
			Message: fmt.Sprintf("names the %s %q, which is not in [%s] of %s", what, name, kind, FileName)})
		return
	}
	r.unlessKnown(Problem{File: r.file, Path: path, Message: fmt.Sprintf("names the %s %q, whose entry in %s cannot be used", what, name, FileName)})
	for _, fault := range faults {
		if !slices.Contains(r.problems, fault) {
			r.problems = append(r.problems, fault)
		}
	}
}
