package importer

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// states makes steps of the states of a state machine that has no steps: each
// state that something leads out of, after those that lead to it.
func (in *importing) states(t table) {
	from := map[string][]string{}
	out := map[string]bool{}
	all := t.tables("states")
	order := stateOrder(all)
	for _, tr := range t.tables("transitions") {
		dest := tr.text("dest")
		for _, source := range tr.texts("source") {
			out[source.text] = true
			if order[source.text] < order[dest] && !slices.Contains(from[dest], source.text) {
				from[dest] = append(from[dest], source.text)
			}
		}
	}
	for _, s := range all {
		if id := s.text("name", "id"); out[id] {
			in.ids[id] = id
			in.state(s, id, from[id])
		}
	}
	if len(in.def.Steps) == 0 {
		in.problem(t.place, "steps", "", "a definition needs at least one step, and from no state a transition leads out")
	}
}

func stateOrder(states []table) map[string]int {
	order := map[string]int{}
	for i, s := range states {
		order[s.text("name", "id")] = i + 1
	}
	return order
}

// state is a step with the key id in place of name.
func (in *importing) state(s table, id string, after []string) {
	v := s.value
	v.pairs = []pair{{key: "id", at: s.place, value: value{place: s.place, kind: scalar, text: id}}}
	if len(after) > 0 {
		deps := value{place: s.place, kind: list}
		for _, name := range after {
			deps.items = append(deps.items, value{place: s.place, kind: scalar, text: name})
		}
		v.pairs = append(v.pairs, pair{key: "depends_on", at: s.place, value: deps})
	}
	for _, p := range s.pairs {
		switch p.key {
		case "name", "id", "on_enter", "on_exit":
		case "display_name":
			p.key = "title"
			v.pairs = append(v.pairs, p)
		default:
			v.pairs = append(v.pairs, p)
		}
	}
	in.step(in.table(v, s.path))
}

// machine makes guards of the conditions of a state machine's transitions.
func (in *importing) machine(t table) {
	checks, used := map[string]value{}, map[string]bool{}
	guards := t.below("guards").pairs
	for _, p := range guards {
		if check, ok := p.value.get("check"); ok && check.value.kind == scalar {
			checks[p.key] = check.value
		}
	}
	states := t.tables("states")
	in.hooks(states)
	order := stateOrder(states)
	for _, tr := range t.tables("transitions") {
		dest := tr.text("dest")
		for _, source := range tr.texts("source") {
			if order[dest] > 0 && order[source.text] >= order[dest] {
				in.wayBack(tr, source.text, dest)
				continue
			}
			for _, cond := range tr.texts("conditions") {
				if check, ok := checks[cond.text]; ok {
					cond.text = check.text
				}
				used[cond.text] = true
				in.condition(cond, source.text, dest)
			}
		}
	}
	for _, p := range guards {
		if check, ok := checks[p.key]; ok && !used[check.text] {
			in.note(LeftOut, p.at, "", "the guard %s stands on no way forward", p.key)
		}
	}
}

// hooks says that what a state does by itself is left out, once for all states.
func (in *importing) hooks(states []table) {
	for _, key := range []string{"on_enter", "on_exit"} {
		var at []pair
		for _, s := range states {
			if p, ok := s.get(key); ok && p.value.kind != none {
				at = append(at, p)
			}
		}
		if len(at) > 0 {
			in.note(LeftOut, at[0].at, "", "%s of %d states has no place here: a step runs nothing when it begins or ends", key, len(at))
		}
	}
}

// wayBack says what becomes of a transition that leads back.
func (in *importing) wayBack(tr table, source, dest string) {
	from, to := in.position(in.ids[source]), in.position(in.ids[dest])
	if from >= 0 && to >= 0 && in.def.Steps[from].Packages != nil && slices.Contains(in.def.Steps[from].Packages.Also, in.ids[dest]) {
		in.note(Changed, tr.place, in.ids[source], "the way back from %s to %s is taken package by package: one that fails is %s again", source, dest, in.def.Steps[from].Packages.Failed)
		return
	}
	in.note(LeftOut, tr.place, in.ids[source], "the way back from %s to %s (%s) has no place here: steps lead forward", source, dest, tr.text("trigger"))
}

// condition finds the guard for one condition, and the step for the guard.
func (in *importing) condition(cond value, source, dest string) {
	text := clipped(cond.text)
	c, ok := parseCall(cond.text)
	from := in.position(in.ids[source])
	switch {
	case !ok:
		in.note(LeftOut, cond.place, "", "the condition %s is no check that is known", text)
	case from < 0:
		in.note(LeftOut, cond.place, "", "the condition %s: the definition has no step %s", text, source)
	case strings.HasSuffix(c.name, "_wp_status"):
		in.packageCondition(cond, from)
	default:
		g, why := in.guardOf(c)
		if why != "" {
			in.note(LeftOut, cond.place, in.def.Steps[from].ID, "the condition %s: %s", text, why)
			return
		}
		in.guard(in.gate(from, in.position(in.ids[dest]), g), g)
	}
}

// packageCondition is what the rules for packages say already.
func (in *importing) packageCondition(cond value, from int) {
	for _, pos := range []int{in.position("review"), from} {
		if pos >= 0 && in.def.Steps[pos].Packages != nil {
			in.note(Changed, cond.place, in.def.Steps[pos].ID, "the condition %s is what until of the work packages at %s says", clipped(cond.text), in.def.Steps[pos].ID)
			return
		}
	}
	in.note(LeftOut, cond.place, in.def.Steps[from].ID, "the condition %s: no step works on packages", clipped(cond.text))
}

// gate is the step that a condition on the way between two states guards. The
// definition may have steps between them that the state machine does not know:
// then it is the one that the artifact is called after, else the last before
// the second, as only there the condition must hold.
func (in *importing) gate(from, to int, g mission.Guard) int {
	if to < 0 || !in.waits(to, from) {
		return from
	}
	last := from
	for pos := range in.def.Steps {
		on := pos == from || in.waits(pos, from) && in.waits(to, pos)
		if !on || in.def.Steps[pos].Audit != nil {
			continue
		}
		if g.Artifact != nil {
			base := strings.TrimSuffix(path.Base(g.Artifact.Path), path.Ext(g.Artifact.Path))
			if base != "" && (base == in.def.Steps[pos].ID || len(base) > 3 && strings.HasPrefix(in.def.Steps[pos].ID, base)) {
				return pos
			}
		}
		if pos == from || slices.Contains(in.deps[to], pos) {
			last = pos
		}
	}
	return last
}

// dependents are the positions that each step waits for at once.
func (in *importing) dependents() [][]int {
	at, written := map[string]int{}, false
	for pos, step := range in.def.Steps {
		at[step.ID] = pos
		written = written || len(step.DependsOn) > 0
	}
	deps := make([][]int, len(in.def.Steps))
	for pos, step := range in.def.Steps {
		if !written && pos > 0 {
			deps[pos] = []int{pos - 1}
		}
		for _, id := range step.DependsOn {
			if dep, ok := at[id]; ok {
				deps[pos] = append(deps[pos], dep)
			}
		}
	}
	return deps
}

// waits tells whether a step waits for another one, however far.
func (in *importing) waits(pos, other int) bool {
	seen, next := map[int]bool{}, slices.Clone(in.deps[pos])
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if at == other {
			return true
		}
		if !seen[at] {
			seen[at] = true
			next = append(next, in.deps[at]...)
		}
	}
	return false
}

// leftOver notes what nothing was made of.
func (in *importing) leftOver(top, machine table) {
	own := machine.file == top.file
	for _, p := range top.rest("mission", "steps", "audit_steps", "key", "name", "version", "description") {
		if !own {
			in.note(LeftOut, p.at, "", "%s has no place here", p.key)
		}
	}
	block := machine.below("mission")
	if p, ok := block.get("description"); ok && !own {
		in.note(LeftOut, p.at, "", "the mission's description has no place here: %s", short(p.value.text))
	}
	for _, p := range machine.pairs {
		switch p.key {
		case "mission", "initial", "states", "transitions", "guards", "name", "key", "version":
		case "inputs":
			in.unasked(p.value)
			in.untyped(p.value)
		case "artifacts":
			in.unguardedArtifacts(p)
		case "validation":
			in.validation(p)
		case "commands":
			in.note(LeftOut, p.at, "", "commands are used only where a prompt is missing")
		case "description":
			if !own {
				in.note(LeftOut, p.at, "", "the mission's description has no place here: %s", short(p.value.text))
			}
		case "steps", "audit_steps":
			if !own {
				in.note(LeftOut, p.at, "", "%s of this file are left out: those of %s stand", p.key, in.src.Definition.Name)
			}
		default:
			in.note(LeftOut, p.at, "", "%s has no place here", p.key)
		}
	}
}

// unasked notes the inputs that no step asks for.
func (in *importing) unasked(inputs value) {
	for _, item := range inputs.items {
		name, _ := item.get("name")
		asked := slices.ContainsFunc(in.def.Steps, func(s mission.Step) bool {
			return slices.ContainsFunc(s.Inputs, func(i mission.Input) bool { return i.Key == name.value.text })
		})
		if !asked {
			in.note(LeftOut, item.place, "", "no step asks for the input %s", strconv.Quote(name.value.text))
		}
	}
}

// untyped says which inputs were more than a question there.
func (in *importing) untyped(inputs value) {
	for _, item := range inputs.items {
		name, _ := item.get("name")
		if kind, ok := item.get("type"); ok && !slices.Contains([]string{"", "string", "text"}, kind.value.text) {
			in.note(Changed, item.place, "", "the input %s is any text here: that it is of type %s is not checked", short(name.value.text), clipped(kind.value.text))
		}
		if required, ok := item.get("required"); ok {
			if must, ok := required.value.truth(); ok && !must {
				in.note(Changed, item.place, "", "the input %s is not required there: the step that asks for it wants an answer", short(name.value.text))
			}
		}
	}
}

func (in *importing) unguardedArtifacts(p pair) {
	for _, other := range p.value.pairs {
		switch other.key {
		case "required":
		case "optional":
			for _, item := range other.value.items {
				in.note(LeftOut, item.place, "", "the artifact %s is optional: nothing looks for it", short(item.text))
			}
		default:
			in.note(LeftOut, other.at, "", "artifacts.%s has no place here", other.key)
		}
	}
	required, _ := p.value.get("required")
	for _, item := range required.value.items {
		guarded := slices.ContainsFunc(in.def.Steps, func(s mission.Step) bool {
			return slices.ContainsFunc(s.Guards, func(g mission.Guard) bool { return g.Artifact != nil && g.Artifact.Path == item.text })
		})
		if !guarded {
			in.note(LeftOut, item.place, "", "%s is required, and nothing says by which step", short(item.text))
		}
	}
}

func (in *importing) validation(p pair) {
	checks, _ := p.value.get("checks")
	for _, item := range checks.value.items {
		in.note(LeftOut, item.place, "", "no guard makes the check %s", short(item.text))
	}
	if len(checks.value.items) == 0 {
		in.note(LeftOut, p.at, "", "validation has no place here")
	}
}
