package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/spec-kitty/step-runner/host/mission"
)

// definition reads the files, in the order in which one needs the other.
func (in *importing) definition() {
	top := in.top(in.src.Definition)
	machine, artifacts := in.beside(in.src.Machine), in.beside(in.src.Artifacts)
	if len(in.problems) > 0 {
		return
	}
	if machine.line == 0 {
		machine = top // which may have states and conditions of its own
	}
	in.words(machine)
	in.heading(top, machine)
	in.allSteps(top, machine)
	if len(in.problems) > 0 {
		return
	}
	in.packages()
	in.prompts()
	in.deps = in.dependents()
	in.artifacts(artifacts)
	in.machine(machine)
	in.leftOver(top, machine)
}

// beside reads a file that may be missing.
func (in *importing) beside(f File) table {
	if f.Name == "" {
		return in.table(value{}, "")
	}
	return in.top(f)
}

// words keeps what mission.yaml says of inputs and commands.
func (in *importing) words(machine table) {
	in.questions, in.commands = map[string]string{}, map[string]string{}
	inputs, _ := machine.get("inputs")
	for _, item := range inputs.value.items {
		name, _ := item.get("name")
		text, _ := item.get("description")
		in.questions[name.value.text] = text.value.text
	}
	commands, _ := machine.get("commands")
	for _, p := range commands.value.pairs {
		text, _ := p.value.get("prompt")
		in.commands[p.key] = text.value.text
	}
}

// heading is the mission's key, name and version: in the block mission, or at
// the top; the key of a state machine is the name in its block.
func (in *importing) heading(top, machine table) {
	block := top.below("mission")
	title, name := top.text("name"), block.text("name", "title")
	in.promptDir = block.below("runtime").text("prompt_template_dir")
	block.used["runtime"] = true
	key := cmp.Or(in.src.Key, block.text("key"), top.text("key"))
	for _, other := range []string{name, title, in.src.Folder} {
		if key == "" && mission.CheckName(other) == nil {
			key = other
		}
	}
	if name == key {
		name = title
	}
	in.def.Key, in.def.Name = key, oneLine(cmp.Or(name, title, key))
	in.def.Version = cmp.Or(block.text("version"), top.text("version"), machine.below("mission").text("version"), "0.0.0")
	if text := cmp.Or(block.text("description"), top.text("description")); text != "" {
		in.note(LeftOut, block.orTop(top), "", "the mission's description has no place here: %s", short(text))
	}
	if err := mission.CheckName(key); err != nil {
		in.problem(block.orTop(top), "mission.key", "", "%v: name the type with --type", err)
	}
	block.used["steps"], block.used["audit_steps"] = true, true
	for _, p := range block.rest("key", "name", "title", "version", "description", "steps", "audit_steps", "runtime") {
		in.note(LeftOut, p.at, "", "%s has no place here", block.at(p.key))
	}
}

func (t table) orTop(top table) place {
	if t.line > 0 {
		return t.place
	}
	return top.place
}

// allSteps reads steps and audits, at the top or inside the block mission; a
// block of them that only repeats the top's is left alone.
func (in *importing) allSteps(top, machine table) {
	block := top.below("mission")
	steps, audits := top.tables("steps"), top.tables("audit_steps")
	if len(steps) == 0 && len(audits) == 0 {
		steps, audits = block.tables("steps"), block.tables("audit_steps")
	}
	if _, ok := machine.take("states"); ok && len(steps) == 0 && machine.file == top.file {
		in.states(machine)
		return
	}
	if len(steps) == 0 {
		in.problem(top.place, "steps", "", "a definition needs at least one step")
		return
	}
	in.ordered(steps)
	for _, t := range append(slices.Clone(steps), audits...) {
		in.named(t)
	}
	for _, t := range steps {
		in.step(t)
	}
	for _, t := range audits {
		in.audit(t)
	}
}

// ordered sorts steps by their order, where each has one.
func (in *importing) ordered(steps []table) {
	all := true
	order := func(t table) (n int, ok bool) {
		p, _ := t.get("order")
		n, err := strconv.Atoi(p.value.text)
		return n, err == nil
	}
	for _, t := range steps {
		t.used["order"] = true
		_, ok := order(t)
		all = all && ok
	}
	if !all {
		return
	}
	slices.SortStableFunc(steps, func(a, b table) int {
		x, _ := order(a)
		y, _ := order(b)
		return cmp.Compare(x, y)
	})
}

// named settles the id of a step. Some words say here where a run as a whole
// stands: a step of that name gets another one.
func (in *importing) named(t table) {
	id := t.text("id")
	if _, taken := in.ids[id]; taken {
		return // Check says so
	}
	in.ids[id] = id
	if mission.Reserved(id) {
		in.ids[id] = "step-" + id
		in.note(Changed, t.place, in.ids[id], "the step %s is named %s here, as %s says where a run as a whole stands", id, in.ids[id], id)
	}
}

// check holds the result against the rules of definitions, and says of each
// fault where in the source it is.
func (in *importing) check() {
	firstAudit := slices.IndexFunc(in.def.Steps, func(s mission.Step) bool { return s.Audit != nil })
	if firstAudit < 0 {
		firstAudit = len(in.def.Steps)
	}
	for _, p := range in.def.Check() {
		at, path := in.origin(p.Path, firstAudit)
		in.problem(at, path, p.Near, "%s", p.Message)
	}
}

// origin is the place of a key of ours, as exactly as it is known.
func (in *importing) origin(path string, firstAudit int) (place, string) {
	pos, key, index := 0, "", -1
	var group string
	if n, _ := fmt.Sscanf(path, "steps[%d]", &pos); n == 1 {
		group = "steps"
	} else if n, _ := fmt.Sscanf(path, "audits[%d]", &pos); n == 1 {
		group, pos = "audits", pos+firstAudit
	}
	if group == "" || pos >= len(in.steps) {
		return place{file: in.src.Definition.Name}, path
	}
	t := in.steps[pos].table
	if _, after, ok := cutKey(path); ok {
		key, index = after.name, after.index
	}
	for _, name := range []string{key, map[string]string{"inputs": "requires_inputs", "profile": "agent-profile"}[key], "name"} {
		p, ok := t.get(name)
		if name == "" || !ok || name == "name" && key != "title" {
			continue
		}
		if index >= 0 && index < len(p.value.items) {
			return p.value.items[index].place, t.at(fmt.Sprintf("%s[%d]", name, index))
		}
		return p.value.place, t.at(name)
	}
	return t.place, t.at(key)
}
