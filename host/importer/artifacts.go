package importer

import (
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// artifacts makes guards of what expected-artifacts.yaml wants: what blocks,
// at the step that must have made it; what is always required, at the first.
func (in *importing) artifacts(t table) {
	t.text("schema_version", "mission_type", "manifest_version")
	t.used["mission_type"], t.used["manifest_version"] = true, true
	for _, a := range t.tables("optional_always") {
		in.unblocking(a, a.text("path_pattern"), -1)
	}
	for _, a := range t.tables("required_always") {
		in.artifact(a, 0)
	}
	for _, p := range t.below("required_by_step").pairs {
		by := in.table(value{place: p.at, kind: mapped, pairs: []pair{p}}, "required_by_step")
		for _, a := range by.tables(p.key) {
			in.artifact(a, in.madeBy(p.key))
		}
	}
	for _, p := range t.rest("schema_version", "mission_type", "manifest_version", "required_always", "required_by_step", "optional_always") {
		in.note(LeftOut, p.at, "", "%s has no place here", p.key)
	}
}

// madeBy is the step that a manifest names. The parts of tasks are one step in
// newer definitions.
func (in *importing) madeBy(state string) int {
	if pos := in.position(in.ids[state]); pos >= 0 {
		return pos
	}
	if strings.HasPrefix(state, "tasks_") {
		return in.position("tasks")
	}
	return -1
}

func (in *importing) artifact(t table, pos int) {
	path := t.text("path_pattern")
	blocking, there := t.take("blocking")
	blocks, ok := blocking.truth()
	switch {
	case there && !ok:
		t.wrong(blocking, "blocking", "true or false")
	case path == "":
		in.problem(t.place, t.at("path_pattern"), "", "is missing: the artifact's path")
	case !blocks:
		in.unblocking(t, path, pos)
	case pos < 0:
		in.note(LeftOut, t.place, "", "%s is required by a step that the definition does not have", short(path))
	default:
		g := mission.Guard{Artifact: &mission.ArtifactGuard{Path: path}}
		if why := in.unfit(g); why != "" {
			in.note(LeftOut, t.place, in.def.Steps[pos].ID, "required artifact: %s", why)
			return
		}
		in.guard(pos, g)
	}
}

// unblocking says of an artifact that may be missing that nothing looks for it:
// a guard keeps its step from being completed.
func (in *importing) unblocking(t table, path string, pos int) {
	step := ""
	if pos >= 0 {
		step = in.def.Steps[pos].ID
	}
	in.note(LeftOut, t.place, step, "the artifact %s is expected and does not block: a guard would", short(path))
}

// guard adds a guard to a step, once.
func (in *importing) guard(pos int, g mission.Guard) {
	step := &in.def.Steps[pos]
	for _, have := range step.Guards {
		if sameGuard(have, g) {
			return
		}
	}
	step.Guards = append(step.Guards, g)
}

func sameGuard(a, b mission.Guard) bool {
	switch {
	case a.Artifact != nil && b.Artifact != nil:
		return *a.Artifact == *b.Artifact
	case a.Event != nil && b.Event != nil:
		return *a.Event == *b.Event
	}
	return a.Input != "" && a.Input == b.Input
}
