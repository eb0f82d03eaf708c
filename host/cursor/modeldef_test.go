package cursor

import (
	"fmt"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"github.com/spec-kitty/step-runner/host/mission"
)

// validRules are the package rules that a definition may have, out of those
// with one or two lanes to take from.
var validRules = sync.OnceValue(func() []mission.PackageRule {
	var all []mission.PackageRule
	lanes := mission.Lanes()
	for _, take := range lanes {
		for _, claim := range lanes {
			for _, success := range lanes {
				for _, failed := range lanes {
					rule := mission.PackageRule{
						Take: lanesOf(take), Claim: claim, Success: success, Failed: failed, Until: lanesOf(success),
					}
					if !slices.Contains(rule.Until, mission.Canceled) {
						rule.Until = append(rule.Until, mission.Canceled)
					}
					def := chain("a")
					def.Steps[0].Packages = &rule
					if len(def.Check()) == 0 {
						all = append(all, rule)
					}
				}
			}
		}
	}
	return all
})

// drawRule is a package rule: the usual ones, or any.
func drawRule(t *rapid.T) *mission.PackageRule {
	var rule mission.PackageRule
	switch rapid.IntRange(0, 4).Draw(t, "rule") {
	case 0, 1:
		rule = *implementing()
	case 2, 3:
		rule = *reviewing()
	default:
		rule = rapid.SampledFrom(validRules()).Draw(t, "any rule")
	}
	for _, lane := range []mission.Lane{mission.InProgress, mission.Blocked, mission.Done} {
		if !slices.Contains(rule.Until, lane) && rapid.IntRange(0, 5).Draw(t, "until") == 0 {
			rule.Until = append(slices.Clone(rule.Until), lane)
		}
	}
	rule.AllowNone = rapid.Bool().Draw(t, "allow none")
	rule.SelfReview = (rule.Claim == mission.InReview || rule.Success.Satisfies()) && rapid.Bool().Draw(t, "self review")
	return &rule
}

// drawDefinition is any definition that Check accepts.
func drawDefinition(t *rapid.T) *mission.Definition {
	steps, audits := rapid.IntRange(1, 5).Draw(t, "steps"), rapid.IntRange(0, 2).Draw(t, "audits")
	def := &mission.Definition{Key: "drawn", Name: "drawn", Version: "1"}
	for i := range steps + audits {
		id := fmt.Sprintf("s%d", i)
		def.Steps = append(def.Steps, mission.Step{ID: id, Action: id})
	}
	drawGraph(t, def, steps)
	for i := range def.Steps {
		step := &def.Steps[i]
		if i >= steps {
			drawAudit(t, def, i)
		} else if rapid.Bool().Draw(t, "packages") {
			step.Packages = drawRule(t)
		}
		if step.Audit != nil && step.Audit.Enforcement == mission.Blocking {
			continue
		}
		step.Retry = rapid.IntRange(0, 2).Draw(t, "retry")
		step.Inputs = drawInputs(t)
		if rapid.IntRange(0, 2).Draw(t, "executor") == 0 {
			step.Executor = &mission.Executor{Plugin: "p"}
		}
	}
	drawAlso(t, def)
	for _, p := range def.Check() {
		t.Fatalf("the drawn definition is not valid: %+v\n%s", p, def.Canonical())
	}
	return def
}

// drawGraph gives dependencies along some order that need not be the file's;
// without any, the definition is a chain.
func drawGraph(t *rapid.T, def *mission.Definition, steps int) {
	if rapid.Bool().Draw(t, "chain") {
		return
	}
	order := rapid.Permutation(indexes(steps)).Draw(t, "order")
	for i := steps; i < len(def.Steps); i++ {
		order = append(order, i)
	}
	for rank, pos := range order {
		for _, dep := range order[:rank] {
			if rapid.IntRange(0, 2).Draw(t, "dep") == 0 {
				def.Steps[pos].DependsOn = append(def.Steps[pos].DependsOn, def.Steps[dep].ID)
			}
		}
	}
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func drawAudit(t *rapid.T, def *mission.Definition, pos int) {
	audit := &mission.Audit{Question: "?", Enforcement: mission.Blocking}
	def.Steps[pos].Audit = audit
	if rapid.IntRange(0, 3).Draw(t, "advisory") == 0 {
		audit.Enforcement = mission.Advisory
		return
	}
	if targets := ancestors(def, pos); len(targets) > 0 && rapid.Bool().Draw(t, "on_reject") {
		audit.OnReject = def.Steps[rapid.SampledFrom(targets).Draw(t, "target")].ID
	}
}

func ancestors(def *mission.Definition, pos int) []int {
	deps, _ := def.Deps(pos)
	all := slices.Clone(deps)
	for i := 0; i < len(all); i++ {
		more, _ := def.Deps(all[i])
		for _, dep := range more {
			if !slices.Contains(all, dep) {
				all = append(all, dep)
			}
		}
	}
	return all
}

func drawInputs(t *rapid.T) []mission.Input {
	fallback := "f"
	known := []mission.Input{
		{Key: "free", Question: "?"}, {Key: "choice", Question: "?", Options: []string{"x", "y"}},
		{Key: "default", Question: "?", Default: &fallback},
	}
	var some []mission.Input
	for _, in := range known {
		if rapid.IntRange(0, 5).Draw(t, "input") == 0 {
			some = append(some, in)
		}
	}
	return some
}

func drawAlso(t *rapid.T, def *mission.Definition) {
	for i := range def.Steps {
		if def.Steps[i].Packages == nil {
			continue
		}
		for j := range def.Steps {
			if i != j && def.Steps[j].Packages != nil && rapid.Bool().Draw(t, "also") {
				def.Steps[i].Packages.Also = append(def.Steps[i].Packages.Also, def.Steps[j].ID)
			}
		}
	}
}

func drawPackages(t *rapid.T, source Source) []PackageFact {
	var all []PackageFact
	for i := range rapid.IntRange(0, 4).Draw(t, "packages") {
		p := PackageFact{ID: fmt.Sprintf("WP0%d", i+1)}
		for _, dep := range all {
			if rapid.IntRange(0, 3).Draw(t, "dep") == 0 {
				p.DependsOn = append(p.DependsOn, dep.ID)
			}
		}
		if source == KittySpecs {
			p.Lane = rapid.SampledFrom(append(mission.Lanes(), mission.Genesis)).Draw(t, "lane")
		}
		all = append(all, p)
	}
	return rapid.Permutation(all).Draw(t, "file order")
}
