package mission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ownerInput is the input that says who may answer audits. It may be set when
// a run is started, without a step that asks for it.
const ownerInput = "mission_owner_id"

func (c *checker) inputs(step *Step) {
	seen := map[string]bool{}
	for i, in := range step.Inputs {
		at := fmt.Sprintf("inputs[%d].", i)
		if err := CheckInputKey(in.Key); err != nil {
			c.add(at+"key", "%v", err)
		}
		if seen[in.Key] {
			c.add(at+"key", "%q stands here twice", in.Key)
		}
		seen[in.Key] = true
		c.input(at, in)
		c.sameInput(at, in)
	}
	if step.Blocking() && len(step.Inputs) > 0 {
		c.add("inputs", "have no effect on a blocking audit: it is answered, not handed out")
	}
}

func (c *checker) input(at string, in Input) {
	c.text(at+"question", in.Question)
	if strings.TrimSpace(in.Question) == "" && in.Default == nil {
		c.add(at+"question", "is missing: an input without a default is asked for")
	}
	for i, option := range in.Options {
		key := fmt.Sprintf("%soptions[%d]", at, i)
		c.line(key, option)
		if option == "" {
			c.add(key, "is empty")
		} else if slices.Index(in.Options, option) < i {
			c.add(key, "%q stands here twice", option)
		}
	}
	switch {
	case in.Default == nil:
	case *in.Default == "":
		c.add(at+"default", "is empty: leave it out to be asked")
	case len(in.Options) > 0 && !slices.Contains(in.Options, *in.Default):
		c.addNear(at+"default", Nearest(*in.Default, in.Options), "%q is none of the options", *in.Default)
	}
}

// sameInput reports an input that another step has with other words: one key
// is one answer in the whole run, so it is one question.
func (c *checker) sameInput(at string, in Input) {
	first := c.graph.asked[in.Key][0]
	other := c.def.Steps[first.pos].Inputs[first.input]
	place := fmt.Sprintf("%s.inputs[%d]", c.def.stepPath(first.pos, c.graph.firstAudit), first.input)
	switch {
	case other.Question != in.Question:
		c.add(at+"question", "differs from that of %s: one key is one question", place)
	case !slices.Equal(other.Options, in.Options):
		c.add(at+"options", "differ from those of %s: one key is one question", place)
	case (other.Default == nil) != (in.Default == nil) || in.Default != nil && *other.Default != *in.Default:
		c.add(at+"default", "differs from that of %s: one key is one question", place)
	}
}

// noInput says why an input can have no value when the step being looked at is
// handed out: no step asks for it but those that wait for this one. Defaults
// have their value from the start, and an executor may set any input. why is
// empty where it may have one.
func (c *checker) noInput(key string) (why, near string) {
	asked := c.graph.asked[key]
	hasDefault := func(a asking) bool { return c.def.Steps[a.pos].Inputs[a.input].Default != nil }
	notLater := func(a asking) bool { return !c.later(a.pos) }
	notLaterExecutor := func(pos int) bool { return !c.later(pos) }
	switch {
	case key == ownerInput,
		slices.ContainsFunc(asked, hasDefault),
		slices.ContainsFunc(asked, notLater),
		slices.ContainsFunc(c.graph.executors, notLaterExecutor):
		return "", ""
	case len(asked) > 0:
		return fmt.Sprintf("the input %q is asked for only after this step, by %s", key, c.def.stepPath(asked[0].pos, c.graph.firstAudit)), ""
	}
	return fmt.Sprintf("no step asks for the input %q", key), Nearest(key, slices.Collect(maps.Keys(c.graph.asked)))
}

// later tells whether a step waits for the one being looked at.
func (c *checker) later(pos int) bool {
	return pos != c.pos && c.graph.ancestors(pos).Has(c.pos)
}

// prompt checks the prompt's text, for what can be known before a run.
func (c *checker) prompt(step *Step) {
	if step.Prompt == nil {
		return
	}
	key := "prompt"
	if step.Prompt.Path != "" {
		key = "prompt_template"
	}
	for _, fault := range step.Prompt.faults(*step, c.noInput) {
		c.addNear(key, fault.Near, "%s", fault.place(": ")+fault.Why)
	}
}
