package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/mission"
)

// ScriptError says that a script does not fit its definition.
type ScriptError struct {
	Message string
	Known   []string // what could have been named
	Near    string   // the one that is nearest, if any is near
}

func (e *ScriptError) Error() string {
	if e.Near != "" {
		return e.Message + "; did you mean " + e.Near + "?"
	}
	return e.Message
}

func bad(format string, args ...any) *ScriptError {
	return &ScriptError{Message: fmt.Sprintf(format, args...)}
}

func unknown(name string, known []string, format string, args ...any) *ScriptError {
	e := bad(format, args...)
	e.Known, e.Near = known, mission.Nearest(name, known)
	return e
}

// checker holds a script against its definition.
type checker struct {
	steps     []mission.Step
	script    *Script
	reported  []string            // ids of the steps that are reported
	questions map[string][]string // the options of each question that may come
	packages  bool
}

// check refuses whatever in a script could have no effect. It gives the
// definition's steps, and names the script's inputs by their decision ids.
func check(def mission.View, script *Script) ([]mission.Step, error) {
	c := &checker{script: script, questions: map[string][]string{}}
	for pos := range def.Len() {
		step, err := def.Step(pos)
		if err != nil {
			return nil, err
		}
		c.learn(step)
	}
	for _, check := range []func() error{c.checkPackages, c.checkResults, c.checkAnswers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return c.steps, nil
}

func (c *checker) learn(step mission.Step) {
	c.steps = append(c.steps, step)
	c.packages = c.packages || step.Packages != nil
	if a := step.Audit; a != nil && a.Enforcement == mission.Blocking {
		c.questions["audit:"+step.ID] = []string{"approve", "reject"}
		return
	}
	c.reported = append(c.reported, step.ID)
	for _, in := range step.Inputs {
		if in.Default == nil {
			c.questions[cursor.InputID(in.Key)] = in.Options
		}
	}
}

func (c *checker) checkPackages() error {
	if len(c.script.Packages) > 0 && !c.packages {
		return bad("no step works on packages, so there can be none")
	}
	folded := map[string]string{}
	for _, p := range c.script.Packages {
		if err := mission.CheckName(p.ID); err != nil {
			return bad("%v", err)
		}
		if other, twice := folded[mission.Fold(p.ID)]; twice {
			return bad("package %s is there already, as %s", p.ID, other)
		}
		folded[mission.Fold(p.ID)] = p.ID
		if !slices.Contains(mission.Lanes(), p.Lane) {
			return unknown(string(p.Lane), laneNames(), "package %s: there is no lane %q", p.ID, string(p.Lane))
		}
	}
	return nil
}

func laneNames() []string {
	var names []string
	for _, l := range mission.Lanes() {
		names = append(names, string(l))
	}
	return names
}

func (c *checker) checkResults() error {
	for _, step := range slices.Sorted(maps.Keys(c.script.Fail)) {
		if err := c.reports(step, "fail"); err != nil {
			return err
		}
		switch n := c.script.Fail[step]; {
		case n < 1 && n != Always:
			return bad("step %s cannot fail %d times", step, n)
		case n == Always && c.script.Block[step]:
			return bad("step %s is to fail always, so it is never blocked: say how often it fails", step)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(c.script.Block)) {
		if err := c.reports(step, "be blocked"); err != nil {
			return err
		}
	}
	return nil
}

// reports wants a step that is reported.
func (c *checker) reports(step, what string) error {
	if slices.Contains(c.reported, step) {
		return nil
	}
	if _, audit := c.questions["audit:"+step]; audit {
		return bad("step %s cannot %s: it is a blocking audit, which is answered (audit:%s)", step, what, step)
	}
	return unknown(step, c.reported, "there is no step %q", step)
}

func (c *checker) checkAnswers() error {
	answers := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.script.Answers)) {
		id, values := name, c.script.Answers[name]
		if !strings.Contains(name, ":") {
			id = cursor.InputID(name)
		}
		if _, twice := answers[id]; twice {
			return bad("%s is answered twice, as %s too", id, name)
		}
		if err := c.answers(id, values); err != nil {
			return err
		}
		answers[id] = values
	}
	c.script.Answers = answers
	return nil
}

func (c *checker) answers(id string, values []string) error {
	options, known := c.questions[id]
	kind, of, _ := strings.Cut(id, ":")
	switch {
	case known:
	case kind == "input" && c.hasDefault(of):
		return bad("the input %q has a default, so it is not asked", of)
	case kind == "plugin":
		return bad("%s is not asked here: executors are not run, so they have no questions", id)
	case kind == "package" && slices.ContainsFunc(c.script.Packages, func(p Package) bool { return p.ID == of }):
		return bad("%s is not asked here: it comes where packages depend on a canceled one, and these depend on none", id)
	default:
		return unknown(id, slices.Sorted(maps.Keys(c.questions)), "no step asks %q", id)
	}
	if len(values) == 0 {
		return bad("%s has an empty list of answers", id)
	}
	for _, value := range values {
		if value == "" {
			return bad("%s: an empty answer is none", id)
		}
		if len(options) > 0 && !slices.Contains(options, value) {
			return unknown(value, options, "%s: %q is none of the options", id, value)
		}
	}
	return nil
}

func (c *checker) hasDefault(key string) bool {
	return slices.ContainsFunc(c.steps, func(s mission.Step) bool {
		return slices.ContainsFunc(s.Inputs, func(in mission.Input) bool { return in.Key == key && in.Default != nil })
	})
}
