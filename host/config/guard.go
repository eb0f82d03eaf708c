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
	case "event":
		return []string{"min"}
	}
	return nil
}

func guard(t *table) mission.Guard {
	g := mission.Guard{Message: t.text("message"), Input: t.text("input"), Command: t.text("command")}
	if path := t.text("artifact"); t.has("artifact") {
		g.Artifact = &mission.ArtifactGuard{Path: path}
	}
	if name := t.text("plugin"); t.has("plugin") {
		g.Plugin = &mission.PluginGuard{Plugin: name}
	}
	if id := t.text("work_packages"); t.has("work_packages") {
		g.WorkPackages = &mission.PackageGuard{Package: id}
	}
	if t.has("command") && g.Command == "" {
		t.wrong("command", "is empty: the name of a command of [commands] was expected")
		t.read.judged = append(t.read.judged, t.path())
	}
	if kind := t.text("event"); t.has("event") {
		g.Event = &mission.EventGuard{Type: kind}
	}
	t.artifactKeys(g.Artifact)
	if with := t.free("with"); g.Plugin != nil {
		g.Plugin.With = with
	}
	if lanes := t.lanes("lanes"); g.WorkPackages != nil {
		g.WorkPackages.Lanes = lanes
	}
	if least := t.numberIn("min", 1, mission.MaxEvents, 0); g.Event != nil {
		g.Event.Min = int(least)
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
	g.MinBytes = t.numberIn("min_bytes", 1, mission.MaxArtifact, 0)
	g.MinCount = int(t.numberIn("min_count", 1, 1_000_000, 0))
}

// oneKind reports a guard that is of no kind or of several, and the keys that
// have no effect on the kind it is.
func (t *table) oneKind() {
	var found []string
	for _, kind := range mission.GuardKinds() {
		if t.has(kind) {
			found = append(found, kind)
		}
	}
	switch len(found) {
	case 0:
		if t.values == nil { // no table: reported as that
			t.read.judged = append(t.read.judged, t.path())
		} else {
			t.read.add(t.path(), "", "a guard needs one of %s", mission.OneOfGuardKinds())
		}
		return
	case 1:
	default:
		t.read.add(t.path(), "", "a guard is one of %s: make it %d guards", strings.Join(found, ", "), len(found))
		return
	}
	for _, owner := range mission.GuardKinds() {
		for _, key := range guardKeys(owner) {
			if t.has(key) && !slices.Contains(guardKeys(found[0]), key) {
				t.wrong(key, "has no effect on a guard of kind %s: it belongs to %s", found[0], owner)
			}
		}
	}
}
