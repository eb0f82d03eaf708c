package config

import (
	"github.com/spec-kitty/step-runner/host/mission"
)

// draft is a definition as far as its TOML says: prompt files are not read yet.
type draft struct {
	def     mission.Definition
	prompts []promptFile
}

// promptFile is a prompt that lies in a file of its own.
type promptFile struct {
	step int    // position
	key  string // where the definition names it
	path string // as written: relative to the definition's file
}

// readDefinition reads the steps, audits and heading of one mission type. The
// heading is [mission] in a file; inline it may also stand beside the steps.
func readDefinition(t *table, name string, inline bool) *draft {
	d := &draft{}
	t.read.heading = !inline
	d.heading(t, name, inline)
	for _, step := range t.tables("steps") {
		d.step(step)
	}
	for _, audit := range t.tables("audits") {
		d.audit(audit)
	}
	t.done()
	return d
}

func (d *draft) heading(t *table, name string, inline bool) {
	d.def.Key, d.def.Name, d.def.Version = name, name, "0.0.0"
	if inline {
		d.headingKeys(t, name)
	}
	if heading := t.table("mission"); heading != nil {
		d.headingKeys(heading, name)
		heading.done()
	}
}

func (d *draft) headingKeys(t *table, name string) {
	if key, ok := typed[string](t, "key", "text in quotes"); ok && key != name {
		t.wrong("key", "%q differs from the table's name %q: a mission type has one name", key, name)
	}
	if title := t.text("name"); title != "" {
		d.def.Name = title
	}
	if version := t.text("version"); version != "" {
		d.def.Version = version
	}
}

func (d *draft) step(t *table) {
	step := d.common(t)
	step.Packages = packageRule(t.table("work_packages"))
	d.def.Steps = append(d.def.Steps, step)
	t.done()
}

func (d *draft) audit(t *table) {
	step := d.common(t)
	step.Audit = &mission.Audit{
		Question:    t.text("question"),
		Enforcement: mission.Enforcement(t.text("enforcement")),
		OnReject:    t.text("on_reject"),
	}
	d.def.Steps = append(d.def.Steps, step)
	t.done()
}

// common reads what steps and audits share.
func (d *draft) common(t *table) mission.Step {
	step := mission.Step{
		ID:          t.text("id"),
		Title:       t.text("title"),
		Description: t.text("description"),
		Action:      t.text("action"),
		Profile:     t.text("profile"),
		DependsOn:   t.texts("depends_on"),
		Retry:       int(t.numberIn("retry", 0, mission.MaxRetry, 0)),
		Metadata:    t.free("metadata"),
		Prompt:      d.prompt(t),
		Executor:    executor(t.table("executor")),
	}
	if step.Title == "" {
		step.Title = step.ID
	}
	if step.Action == "" {
		step.Action = step.ID
	}
	for _, in := range t.tables("inputs") {
		step.Inputs = append(step.Inputs, input(in))
	}
	for _, g := range t.tables("guards") {
		step.Guards = append(step.Guards, guard(g))
	}
	return step
}

func (d *draft) prompt(t *table) *mission.Prompt {
	text, inText := typed[string](t, "prompt", "text in quotes")
	path, inFile := typed[string](t, "prompt_template", "a path in quotes")
	asTemplate, set := typed[bool](t, "template", "true or false")
	switch {
	case inText && inFile:
		t.wrong("prompt_template", "a step has one prompt: leave out prompt or prompt_template")
	case set && !inText && !inFile:
		t.wrong("template", "has no effect without prompt or prompt_template")
	}
	if !inText && !inFile {
		return nil
	}
	if inFile {
		d.prompts = append(d.prompts, promptFile{step: len(d.def.Steps), key: t.at("prompt_template"), path: path})
	}
	return &mission.Prompt{Text: text, Literal: set && !asTemplate}
}

func input(t *table) mission.Input {
	in := mission.Input{Key: t.text("key"), Question: t.text("question"), Options: t.texts("options")}
	if value, ok := typed[string](t, "default", "text in quotes"); ok {
		in.Default = &value
	}
	t.done()
	return in
}

func executor(t *table) *mission.Executor {
	if t == nil {
		return nil
	}
	e := &mission.Executor{Plugin: t.text("plugin"), With: t.free("with"), Auto: t.flag("auto")}
	t.done()
	return e
}

func packageRule(t *table) *mission.PackageRule {
	if t == nil {
		return nil
	}
	rule := &mission.PackageRule{
		Take:       t.lanes("take"),
		Claim:      lane(t.text("claim")),
		Success:    lane(t.text("success")),
		Failed:     lane(t.text("failed")),
		Until:      t.lanes("until"),
		Also:       t.texts("also"),
		AllowNone:  t.flag("allow_none"),
		SelfReview: t.flag("self_review"),
	}
	t.done()
	return rule
}

func (t *table) lanes(key string) []mission.Lane {
	var lanes []mission.Lane
	for _, name := range t.texts(key) {
		lanes = append(lanes, lane(name))
	}
	return lanes
}

// lane takes an alias for what it stands for and leaves what is no lane as it
// is, for Check to name.
func lane(name string) mission.Lane {
	if l, ok := mission.ParseLane(name); ok {
		return l
	}
	return mission.Lane(name)
}
