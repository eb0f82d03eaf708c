package mission

import (
	"fmt"
	"slices"
)

// lanes reports an empty list, words that are no lane, and doubled ones.
func (c *checker) lanes(key string, lanes []Lane) {
	if len(lanes) == 0 {
		c.add(key, "is missing: at least one lane")
	}
	for i, l := range lanes {
		at := fmt.Sprintf("%s[%d]", key, i)
		c.lane(at, l)
		if slices.Index(lanes, l) < i {
			c.add(at, "%q stands here twice", string(l))
		}
	}
}

func (c *checker) lane(key string, l Lane) bool {
	if slices.Contains(Lanes(), l) {
		return true
	}
	known := make([]string, 0, len(Lanes()))
	for _, k := range Lanes() {
		known = append(known, string(k))
	}
	switch l {
	case "":
		c.add(key, "is missing: a lane")
	case Genesis:
		c.add(key, "genesis is before all work and cannot be named")
	default:
		c.addNear(key, Nearest(string(l), known), "there is no lane %q", string(l))
	}
	return false
}

func (c *checker) packages(step *Step) {
	rule := step.Packages
	if rule == nil {
		return
	}
	c.lanes("work_packages.take", rule.Take)
	c.lanes("work_packages.until", rule.Until)
	claim := c.lane("work_packages.claim", rule.Claim)
	success := c.lane("work_packages.success", rule.Success)
	failed := c.lane("work_packages.failed", rule.Failed)
	if claim {
		c.claim(rule)
	}
	if claim && success {
		c.outcome("success", rule.Claim, rule.Success)
	}
	if claim && failed {
		c.outcome("failed", rule.Claim, rule.Failed)
	}
	if success && rule.Failed == rule.Success {
		c.add("work_packages.failed", "%q is where success leads too: a failed package would pass for a finished one", string(rule.Failed))
	}
	if success {
		c.ends(step)
	}
	c.also(step)
	if rule.SelfReview && rule.Claim != InReview && !rule.Success.Satisfies() {
		c.add("work_packages.self_review", "has no effect: this step neither takes packages for review nor approves them")
	}
}

// claim must be a lane that someone works in, and must be reachable.
func (c *checker) claim(rule *PackageRule) {
	if rule.Claim.Final() || rule.Claim == Blocked {
		c.add("work_packages.claim", "%q is no lane to work in", string(rule.Claim))
		return
	}
	for i, from := range rule.Take {
		if _, ok := Path(from, rule.Claim); slices.Contains(Lanes(), from) && !ok {
			c.add(fmt.Sprintf("work_packages.take[%d]", i), "no moves lead from %q to %q, the lane that handing out leads to", string(from), string(rule.Claim))
		}
	}
}

func (c *checker) outcome(key string, from, to Lane) {
	key = "work_packages." + key
	switch _, ok := Path(from, to); {
	case !ok:
		c.add(key, "no moves lead from %q to %q", string(from), string(to))
	case from == to:
		c.add(key, "%q is the lane it is handed out in, so the report would move nothing", string(to))
	}
}

// ends reports a rule under which the step cannot end: neither its own success
// nor those that other steps give meanwhile lead to a lane of until.
func (c *checker) ends(step *Step) {
	rule := step.Packages
	if slices.Contains(rule.Take, rule.Success) {
		c.add("work_packages.success", "%q is a lane that the step takes from: a finished package would be offered again for ever", string(rule.Success))
	}
	if len(rule.Until) == 0 {
		return
	}
	reached := []Lane{rule.Success}
	for i := 0; i < len(reached); i++ {
		if slices.Contains(rule.Until, reached[i]) {
			return
		}
		for _, id := range rule.Also {
			if next, ok := c.lent(id, reached[i]); ok && !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	c.add("work_packages.until", "holds neither %q, where success leads, nor a lane that the steps in also lead on to: the step would never end", string(rule.Success))
}

// lent is where another step's success leads from a lane, if it takes from it.
func (c *checker) lent(id string, from Lane) (Lane, bool) {
	pos, ok := c.graph.position(id)
	if !ok {
		return "", false
	}
	rule := c.def.Steps[pos].Packages
	if rule == nil || !slices.Contains(rule.Take, from) {
		return "", false
	}
	return rule.Success, true
}

func (c *checker) also(step *Step) {
	for i, id := range step.Packages.Also {
		key := fmt.Sprintf("work_packages.also[%d]", i)
		pos, ok := c.reference(key, id)
		switch {
		case !ok:
		case pos == c.pos:
			c.add(key, "%q is the step itself", id)
		case c.def.Steps[pos].Packages == nil:
			c.add(key, "%q does not work on packages", id)
		case slices.Index(step.Packages.Also, id) < i:
			c.add(key, "%q stands here twice", id)
		}
	}
}
