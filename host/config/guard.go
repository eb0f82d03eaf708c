package config

import (
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// guardKeys lists, for each kind of guard, the keys that have an effect on it.
func guardKeys(kind string) []string {
	switch kind {
	case "artifact":
		return []string{"contains", "not_contains", "min_bytes", "min_count"}
	case "plugin":
		return []string{"with"}
	case "work_packages":
		return []string{"lanes"}
	}
	return nil
}

func guard(t *table) mission.Guard {
	g := mission.Guard{Message: t.text("message"), Input: t.text("input")}
	if path := t.text("artifact"); t.has("artifact") {
		g.Artifact = &mission.ArtifactGuard{Path: path}
	}
	if name := t.text("plugin"); t.has("plugin") {
		g.Plugin = &mission.PluginGuard{Plugin: name}
	}
	if id := t.text("work_packages"); t.has("work_packages") {
		g.WorkPackages = &mission.PackageGuard{Package: id}
	}
	t.artifactKeys(g.Artifact)
	if with := t.free("with"); g.Plugin != nil {
		g.Plugin.With = with
	}
	if lanes := t.lanes("lanes"); g.WorkPackages != nil {
		g.WorkPackages.Lanes = lanes
	}
	t.oneKind()
	t.done()
	return g
}

func (t *table) artifactKeys(g *mission.ArtifactGuard) {
	if g == nil {
		g = new(mission.ArtifactGuard) // read all the same, for wrong types
	}
	g.Contains = t.text("contains")
	g.NotContains = t.text("not_contains")
	const most = 16 << 20 // larger files are not looked into
	g.MinBytes = t.numberIn("min_bytes", 1, most, 0)
	g.MinCount = int(t.numberIn("min_count", 1, 1_000_000, 0))
}

// oneKind reports a guard that is of no kind or of several, and the keys that
// have no effect on the kind it is.
func (t *table) oneKind() {
	var kinds []string
	for _, kind := range []string{"artifact", "plugin", "input", "work_packages"} {
		if t.has(kind) {
			kinds = append(kinds, kind)
		}
	}
	switch len(kinds) {
	case 0:
		if t.values == nil || t.has("command") || t.has("event") { // no table, or of a later version: reported as that
			t.read.judged = append(t.read.judged, t.path())
		} else {
			t.read.add(t.path(), "", "a guard needs one of artifact, plugin, input and work_packages")
		}
		return
	case 1:
	default:
		t.read.add(t.path(), "", "a guard is one of %s: make it %d guards", strings.Join(kinds, ", "), len(kinds))
		return
	}
	for _, owner := range []string{"artifact", "plugin", "work_packages"} {
		for _, key := range guardKeys(owner) {
			if t.has(key) && !slices.Contains(guardKeys(kinds[0]), key) {
				t.wrong(key, "has no effect on a guard of kind %s: it belongs to %s", kinds[0], owner)
			}
		}
	}
}
