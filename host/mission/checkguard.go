package mission

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

func (c *checker) guards(step *Step) {
	for i, g := range step.Guards {
		c.guard(fmt.Sprintf("guards[%d]", i), g)
	}
}

func (c *checker) guard(at string, g Guard) {
	kinds := 0
	if g.Artifact != nil {
		kinds++
		c.artifact(at, g.Artifact)
	}
	if g.Plugin != nil {
		kinds++
		c.plugin(at+".plugin", g.Plugin.Plugin)
		c.free(at+".with", g.Plugin.With)
	}
	if g.Input != "" {
		kinds++
		if why, near := c.noInput(g.Input); why != "" {
			c.addNear(at+".input", near, "%s", why)
		}
	}
	if g.WorkPackages != nil {
		kinds++
		c.packageGuard(at, g.WorkPackages)
	}
	if g.Command != "" {
		kinds++
		c.command(at+".command", g.Command)
	}
	if g.Event != nil {
		kinds++
		c.event(at, g.Event)
	}
	if kinds != 1 {
		c.add(at, "a guard is one of %s, and this is %d of them", OneOfGuardKinds(), kinds)
	}
	c.text(at+".message", g.Message)
}

// GuardKinds are the keys of which a guard has exactly one.
func GuardKinds() []string {
	return []string{"artifact", "plugin", "input", "work_packages", "command", "event"}
}

// OneOfGuardKinds names them in a sentence.
func OneOfGuardKinds() string {
	all := GuardKinds()
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func (c *checker) command(key, name string) {
	if err := CheckName(name); err != nil {
		c.add(key, "%v", err)
	}
}

func (c *checker) event(at string, g *EventGuard) {
	if g.Type == "" {
		c.add(at+".event", "is empty: the type of an event was expected")
	}
	c.line(at+".event", g.Type)
	if g.Min < 0 || g.Min > MaxEvents {
		c.add(at+".min", "must be from 1 to %d, not %d", MaxEvents, g.Min)
	}
}

func (c *checker) artifact(at string, g *ArtifactGuard) {
	if why := badArtifactPath(g.Path); why != "" {
		c.add(at+".artifact", "%q %s", g.Path, why)
	}
	c.expression(at+".contains", g.Contains)
	c.expression(at+".not_contains", g.NotContains)
	if g.Contains != "" && g.Contains == g.NotContains {
		c.add(at+".not_contains", "is the same as contains: no file can pass both")
	}
	if g.MinBytes < 0 || g.MinBytes > MaxArtifact {
		c.add(at+".min_bytes", "must be from 1 to %d, not %d", MaxArtifact, g.MinBytes)
	}
	switch {
	case g.MinCount < 0:
		c.add(at+".min_count", "must be at least 1, not %d", g.MinCount)
	case g.MinCount > 1 && !strings.ContainsAny(g.Path, "*?["):
		c.add(at+".min_count", "%q names one file, so there are never %d: use a pattern such as docs/*.md", g.Path, g.MinCount)
	}
}

// badArtifactPath says why a path is none inside a mission's folder; empty if
// it is one.
func badArtifactPath(name string) string {
	_, err := path.Match(name, "x")
	switch {
	case name == "":
		return "is empty: a path inside the mission's folder was expected"
	case err != nil:
		return "is a broken pattern: a [ without ], or nothing after a backslash"
	case strings.Contains(name, `\`):
		return "holds a backslash: write / on every system"
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return "is absolute: artifacts lie inside the mission's folder"
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "leads out of the mission's folder"
	case strings.ContainsRune(name, 0):
		return "holds a zero byte"
	case path.Clean(name) == ".":
		return "is the mission's folder itself"
	case slices.Contains(strings.Split(name, "/"), "**"):
		return "has **, which is not known: name each folder, as in docs/*/*.md"
	}
	return ""
}

func (c *checker) expression(key, text string) {
	if _, err := regexp.Compile(text); err != nil {
		c.add(key, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

func (c *checker) packageGuard(at string, g *PackageGuard) {
	if g.Package == "" {
		c.add(at+".work_packages", "is empty: the id of a package was expected")
	} else if err := CheckName(g.Package); err != nil {
		c.add(at+".work_packages", "%v", err)
	}
	c.lanes(at+".lanes", g.Lanes)
}

// PluginReference is a place in a definition that names a plugin.
type PluginReference struct{ Path, Name string }

// PluginReferences are all places that name a plugin, in the order of the steps.
func (d *Definition) PluginReferences() []PluginReference {
	var refs []PluginReference
	firstAudit := newGraph(d).firstAudit
	for pos, step := range d.Steps {
		at := d.stepPath(pos, firstAudit)
		if step.Executor != nil {
			refs = append(refs, PluginReference{at + ".executor.plugin", step.Executor.Plugin})
		}
		for i, g := range step.Guards {
			if g.Plugin != nil {
				refs = append(refs, PluginReference{fmt.Sprintf("%s.guards[%d].plugin", at, i), g.Plugin.Plugin})
			}
		}
	}
	return refs
}

// CommandReference is a place in a definition that names a declared command.
type CommandReference struct {
	Path, Name string
	Packages   bool   // it stands on a step with work packages
	Executor   string // the plugin of the step's executor; "": it has none
}

// CommandReferences are all places that name a command, in the order of the
// steps.
func (d *Definition) CommandReferences() []CommandReference {
	var refs []CommandReference
	firstAudit := newGraph(d).firstAudit
	for pos, step := range d.Steps {
		at, executor := d.stepPath(pos, firstAudit), ""
		if step.Executor != nil {
			executor = step.Executor.Plugin
		}
		for i, g := range step.Guards {
			if g.Command != "" {
				refs = append(refs, CommandReference{fmt.Sprintf("%s.guards[%d].command", at, i), g.Command, step.Packages != nil, executor})
			}
		}
	}
	return refs
}
