package importer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

func (in *importing) step(t table) {
	id := in.ids[t.text("id")]
	step := mission.Step{
		ID:          id,
		Title:       cmp.Or(oneLine(cmp.Or(t.text("title"), t.text("name"))), id),
		Description: strings.TrimSpace(plainLines(t.text("description"))),
		Action:      cmp.Or(oneLine(t.text("action")), in.action(t.text("id"))),
		Profile:     oneLine(t.text("agent-profile", "agent_profile", "profile")),
		DependsOn:   in.dependencies(t),
		Inputs:      in.inputs(t, id),
	}
	src := source{table: t, metadata: map[string]any{}}
	in.promptOf(t, &step, &src)
	for _, key := range []string{"expected_output", "contract_ref", "raci", "raci_override_reason"} {
		if v, ok := t.take(key); ok {
			src.metadata[key] = in.free(v, id)
		}
	}
	for _, p := range t.rest("id", "title", "description", "prompt", "prompt_template", "expected_output", "requires_inputs",
		"depends_on", "agent-profile", "agent_profile", "contract_ref", "raci", "raci_override_reason") {
		if p.value.kind == none {
			continue // says nothing
		}
		src.metadata[p.key] = in.free(p.value, id)
		in.unused(p, id)
	}
	in.add(step, src)
}

// unused says of a key that no rule here knows that it only stands in the metadata.
func (in *importing) unused(p pair, id string) {
	in.note(Changed, p.at, id, "%s is kept in [steps.metadata] for whoever reads it, and has no effect", clipped(p.key))
}

func (in *importing) add(step mission.Step, src source) {
	if len(src.metadata) > 0 {
		step.Metadata = src.metadata
	}
	in.def.Steps, in.steps = append(in.def.Steps, step), append(in.steps, src)
}

// action is what the harness does at a step: as today, the command of the
// step's name, or the one that stands for it.
func (in *importing) action(id string) string {
	if other := alias(id); other != "" && !in.hasPrompt(id+".md") {
		return other
	}
	return in.ids[id]
}

func (in *importing) dependencies(t table) []string {
	var ids []string
	for _, v := range t.texts("depends_on") {
		id := v.text
		if ours, ok := in.ids[id]; ok {
			id = ours
		}
		ids = append(ids, id)
	}
	return ids
}

// inputs are questions, in the words that mission.yaml has for the key. A key
// that templates could not name is changed.
func (in *importing) inputs(t table, id string) []mission.Input {
	var all []mission.Input
	for _, v := range t.texts("requires_inputs") {
		key := strings.Map(func(r rune) rune {
			if r == '-' || r == '.' || r == ' ' {
				return '_'
			}
			return r
		}, v.text)
		if key != v.text {
			in.note(Changed, v.place, id, "the input %q is named %s here", v.text, key)
		}
		if slices.ContainsFunc(all, func(i mission.Input) bool { return i.Key == key }) {
			continue // once is enough; Check looks at the key itself
		}
		question := plainLines(strings.TrimSpace(in.questions[v.text]))
		all = append(all, mission.Input{Key: key, Question: cmp.Or(question, "Provide a value for "+strconv.Quote(key))})
	}
	return all
}

// free is free data as TOML and JSON have it. Nothing stands for null: a key
// without a value is left out, an item of a list becomes an empty text.
func (in *importing) free(v value, step string) any {
	switch v.kind {
	case mapped:
		all := map[string]any{}
		for _, p := range v.pairs {
			if p.value.kind != none {
				all[p.key] = in.free(p.value, step)
			}
		}
		return all
	case none:
		return ""
	case list:
		items := []any{}
		for _, item := range v.items {
			if item.kind == none {
				in.note(Changed, item.place, step, "nothing in a list becomes an empty text")
			}
			items = append(items, in.free(item, step))
		}
		return items
	}
	if is, ok := v.truth(); ok {
		return is
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil && v.tag == "!!int" {
		return n
	}
	if f, err := strconv.ParseFloat(v.text, 64); err == nil && v.tag == "!!float" && f-f == 0 && strings.ContainsAny(v.text, ".eE") {
		return f
	}
	return v.text
}
