package mission

import (
	"fmt"
	"slices"
)

// Standstills are the places where a sound definition can leave work packages
// that nobody is handed: a lane that a report leads to, and that the step neither
// takes from nor ends with; and packages that wait for others which nothing brings
// to approved or done meanwhile. A run can go on from there only by moves made by
// hand. The definition is one that Check accepts.
func (d *Definition) Standstills() []Problem {
	c := &checker{def: d, graph: newGraph(d)}
	for pos := range d.Steps {
		c.pos, c.path = pos, d.stepPath(pos, c.graph.firstAudit)
		if d.Steps[pos].Packages != nil {
			c.leftLying(&d.Steps[pos])
			c.waitForEver(&d.Steps[pos])
		}
	}
	return c.problems
}

// inForce are the rules by which packages are handed out at a step.
func (c *checker) inForce(step *Step) []*PackageRule {
	all := []*PackageRule{step.Packages}
	for _, id := range step.Packages.Also { // Check accepts none that is not there
		pos, _ := c.graph.position(id)
		all = append(all, c.def.Steps[pos].Packages)
	}
	return all
}

// leftLying reports lanes that reports lead to and nothing leads out of.
func (c *checker) leftLying(step *Step) {
	inForce := c.inForce(step)
	told := map[Lane]bool{}
	for i, rule := range inForce {
		lane := rule.Failed
		taken := slices.ContainsFunc(inForce, func(r *PackageRule) bool { return r.takes(lane) })
		if told[lane] || taken || slices.Contains(step.Packages.Until, lane) {
			continue
		}
		told[lane] = true
		key := "work_packages.failed"
		if i > 0 {
			key = fmt.Sprintf("work_packages.also[%d]", i-1)
		}
		c.add(key, "a package that fails lies in lane %q, which this step neither takes from nor ends with: it stands still until somebody moves it by hand%s", lane, c.lending(step, lane))
	}
}

// takes tells whether packages are handed out from a lane, or from one on the way
// that handing out takes.
func (r *PackageRule) takes(lane Lane) bool {
	for _, from := range r.Take {
		path, ok := Path(from, r.Claim)
		if from == lane || ok && slices.Contains(path, lane) {
			return true
		}
	}
	return false
}

// lending names the steps that would work on packages in a lane.
func (c *checker) lending(step *Step, lane Lane) string {
	for pos := range c.def.Steps {
		other := &c.def.Steps[pos]
		if pos != c.pos && other.Packages != nil && other.Packages.takes(lane) && !slices.Contains(step.Packages.Also, other.ID) {
			return fmt.Sprintf("; also = [%q] has it worked on meanwhile", other.ID)
		}
	}
	return ""
}

// waitForEver reports a step at which no package comes to where one that depends
// on it could go on.
func (c *checker) waitForEver(step *Step) {
	inForce := c.inForce(step)
	if slices.ContainsFunc(inForce, func(r *PackageRule) bool { return r.Success.Satisfies() }) {
		return
	}
	c.add("work_packages.success", "%q satisfies no package that depends on another, and nothing at this step leads on to approved: packages with dependencies wait until somebody moves the others by hand%s",
		step.Packages.Success, c.lending(step, step.Packages.Success))
}
