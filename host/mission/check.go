package mission

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of a definition.
const (
	MaxSteps = 100_000 // steps and audits together
	MaxRetry = 100     // further attempts at a step or package
)

// Problem is one thing that is wrong with a definition. Path is the key in the
// TOML that it stands under, such as steps[3].guards[0].plugin; audits count
// for themselves. Near is the known name that is nearest to an unknown one.
type Problem struct {
	Path    string
	Message string
	Near    string
}

// Check finds everything that is wrong with the definition's values, in the
// order of the definition: bad and doubled names, references to nothing,
// cycles, values out of range, contradictions and settings that can have no
// effect. It is nil for a definition that a run can follow to its end.
func (d *Definition) Check() []Problem {
	c := &checker{def: d, graph: newGraph(d)}
	c.heading()
	for pos := range d.Steps {
		c.step(pos)
	}
	c.cycles()
	return c.problems
}

type checker struct {
	def      *Definition
	graph    *graph
	problems []Problem

	pos  int    // of the step being looked at
	path string // of that step
}

// add reports a problem at a key of the step being looked at.
func (c *checker) add(key, format string, args ...any) {
	c.addNear(key, "", format, args...)
}

func (c *checker) addNear(key, near, format string, args ...any) {
	path := c.path
	if path != "" && key != "" {
		path += "."
	}
	c.problems = append(c.problems, Problem{Path: path + key, Message: fmt.Sprintf(format, args...), Near: near})
}

func (c *checker) heading() {
	if err := CheckName(c.def.Key); err != nil {
		c.add("key", "%v", err)
	}
	c.line("name", c.def.Name)
	c.line("version", c.def.Version)
	switch n := len(c.def.Steps); {
	case n == 0 || c.def.Steps[0].Audit != nil:
		c.add("steps", "a definition needs at least one step")
	case n > MaxSteps:
		c.add("steps", "has %d steps and audits, more than %d", n, MaxSteps)
	}
}

// stepPath is a step's place in the TOML.
func (d *Definition) stepPath(pos, firstAudit int) string {
	if pos >= firstAudit {
		return "audits[" + strconv.Itoa(pos-firstAudit) + "]"
	}
	return "steps[" + strconv.Itoa(pos) + "]"
}

func (c *checker) step(pos int) {
	step := &c.def.Steps[pos]
	c.pos, c.path = pos, c.def.stepPath(pos, c.graph.firstAudit)
	defer func() { c.path = "" }()
	c.name(pos, step.ID)
	c.line("title", step.Title)
	c.line("action", step.Action)
	c.line("profile", step.Profile)
	c.text("description", step.Description)
	c.free("metadata", step.Metadata)
	c.dependencies(step)
	c.inputs(step)
	c.prompt(step)
	c.executor(step)
	c.packages(step)
	c.guards(step)
	c.audit(step)
	if step.Retry < 0 || step.Retry > MaxRetry {
		c.add("retry", "must be from 0 to %d, not %d", MaxRetry, step.Retry)
	}
}

func (c *checker) name(pos int, id string) {
	if id == "" {
		c.add("id", "is missing")
		return
	}
	if err := CheckName(id); err != nil {
		c.add("id", "%v", err)
	}
	if Reserved(id) {
		c.add("id", "%q says where a run as a whole stands: choose another name", id)
	}
	first := c.graph.folded[Fold(id)]
	switch other := c.def.Steps[first].ID; {
	case first == pos:
	case other == id:
		c.add("id", "%q is taken: %s has it too", id, c.def.stepPath(first, c.graph.firstAudit))
	default:
		c.add("id", "%q differs from %q only in letter case", id, other)
	}
	if c.def.Steps[pos].Audit == nil && pos >= c.graph.firstAudit {
		c.add("", "steps come before audits")
	}
}

// line reports text that does not fit on one line, or that would change what a
// terminal shows.
func (c *checker) line(key, text string) {
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		c.add(key, "must be one line without control characters")
	}
}

// text is line for text that may have several lines.
func (c *checker) text(key, text string) {
	bad := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if strings.ContainsFunc(text, bad) {
		c.add(key, "may not hold control characters")
	}
}

// free reports values that a frozen definition could not hold.
func (c *checker) free(key string, values map[string]any) {
	if _, err := encodeJSON(values); err != nil {
		c.add(key, "cannot be written as JSON: %v", err)
	}
}

func (c *checker) dependencies(step *Step) {
	seen := map[string]bool{}
	for i, id := range step.DependsOn {
		key := fmt.Sprintf("depends_on[%d]", i)
		if seen[id] {
			c.add(key, "%q stands here twice", id)
		}
		seen[id] = true
		c.reference(key, id)
	}
}

// reference finds the step that a key names.
func (c *checker) reference(key, id string) (pos int, ok bool) {
	if pos, ok = c.graph.position(id); !ok {
		c.addNear(key, c.graph.nearest(id), "there is no step %q", id)
	}
	return pos, ok
}

func (c *checker) executor(step *Step) {
	e := step.Executor
	if e == nil {
		return
	}
	c.plugin("executor.plugin", e.Plugin)
	c.free("executor.with", e.With)
	if e.Auto && step.Packages != nil {
		c.add("executor.auto", "has no effect on a step with work packages: those are handed out")
	}
	if step.Blocking() {
		c.add("executor", "has no effect on a blocking audit: it is answered, not reported")
	}
}

func (c *checker) plugin(key, name string) {
	if name == "" {
		c.add(key, "is missing: the name of a plugin")
	} else if err := CheckName(name); err != nil {
		c.add(key, "%v", err)
	}
}

func (c *checker) audit(step *Step) {
	a := step.Audit
	if a == nil {
		return
	}
	switch a.Enforcement {
	case Blocking, Advisory:
	case "":
		c.add("enforcement", "is missing: blocking or advisory")
	default:
		c.addNear("enforcement", Nearest(string(a.Enforcement), []string{string(Blocking), string(Advisory)}), "must be blocking or advisory, not %q", string(a.Enforcement))
	}
	c.text("question", a.Question)
	if step.Packages != nil {
		c.add("work_packages", "an audit cannot work on packages")
	}
	if step.Blocking() {
		c.blockingAudit(step)
	}
	c.onReject(step)
}

func (c *checker) blockingAudit(step *Step) {
	if strings.TrimSpace(step.Audit.Question) == "" {
		c.add("question", "is missing: what a blocking audit asks")
	}
	if len(step.Guards) > 0 {
		c.add("guards", "have no effect on a blocking audit: it is answered, not reported")
	}
	if step.Retry != 0 {
		c.add("retry", "has no effect on a blocking audit: it is answered, not reported")
	}
	for _, key := range []struct {
		name string
		set  bool
	}{
		{"prompt", step.Prompt != nil},
		{"description", step.Description != ""},
		{"profile", step.Profile != ""},
		{"action", step.Action != "" && step.Action != step.ID},
		{"metadata", len(step.Metadata) > 0},
	} {
		if key.set {
			c.add(key.name, "has no effect on a blocking audit: its question is all that is shown")
		}
	}
}

func (c *checker) onReject(step *Step) {
	id := step.Audit.OnReject
	if id == "" {
		return
	}
	if step.Audit.Enforcement == Advisory {
		c.add("on_reject", "has no effect on an advisory audit: nothing is asked, so nothing is rejected")
	}
	target, ok := c.reference("on_reject", id)
	if ok && !c.graph.ancestors(c.pos).Has(target) {
		c.add("on_reject", "%q is no step that %q waits for: opening it again would not lead back here", id, step.ID)
	}
}

// Blocking tells a step that is answered and never handed out.
func (s *Step) Blocking() bool { return s.Audit != nil && s.Audit.Enforcement == Blocking }
