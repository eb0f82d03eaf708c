package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// Input wants a value for an input of the run.
func Input(key string, inputs map[string]string) Result {
	r := Result{Guard: "input " + key, Expected: "a value for " + key}
	value, known := inputs[key]
	switch {
	case !known:
		r.Verdict, r.Examined, r.Fix = Refuse, "none", "answer its question, or give it when the run starts"
	case value == "":
		r.Verdict, r.Examined, r.Fix = Refuse, "an empty value", "answer its question again with a value"
	default:
		r.Verdict, r.Examined = Allow, "a value"
	}
	return r
}

// WorkPackages wants one package in one of the guard's lanes.
func WorkPackages(g mission.PackageGuard, packages []PackageAt) Result {
	r := Result{
		Guard:    "work_packages " + g.Package,
		Expected: g.Package + " in " + either(g.Lanes),
		Packages: []string{g.Package},
	}
	at := slices.IndexFunc(packages, func(p PackageAt) bool { return p.ID == g.Package })
	if at < 0 {
		r.Verdict, r.Examined = Refuse, "no package "+g.Package
		r.Fix = "make its file in tasks/, or mend the guard"
		return r
	}
	lane := packages[at].Lane
	if slices.Contains(g.Lanes, lane) {
		r.Verdict, r.Examined = Allow, g.Package+" in "+string(lane)
		return r
	}
	r.Verdict, r.Examined = Refuse, g.Package+" in "+string(lane)
	r.Fix = "finish the work on " + g.Package + " first"
	return r
}

// Until is the guard of a step that works on packages: it is over when every
// package lies in one of the rule's lanes. No package at all is enough only if
// the rule allows that.
func Until(rule mission.PackageRule, packages []PackageAt) Result {
	r := Result{Guard: "until", Expected: "every work package in " + either(rule.Until)}
	if len(packages) == 0 {
		if rule.AllowNone {
			r.Verdict, r.Examined = Allow, "no work packages, which allow_none allows"
			return r
		}
		r.Verdict, r.Examined = Refuse, "no work packages"
		r.Fix = "write files tasks/WP01-….md, or set allow_none = true"
		return r
	}
	var open []string
	for _, p := range packages {
		r.Packages = append(r.Packages, p.ID)
		if !slices.Contains(rule.Until, p.Lane) {
			open = append(open, fmt.Sprintf("%s in %s", p.ID, p.Lane))
		}
	}
	if len(open) > 0 {
		r.Verdict, r.Examined, r.Fix = Refuse, strings.Join(open, ", "), "finish the work on these packages first"
		return r
	}
	r.Verdict, r.Examined = Allow, fmt.Sprintf("all %d there", len(packages))
	return r
}

func either(lanes []mission.Lane) string {
	names := make([]string, 0, len(lanes))
	for _, lane := range lanes {
		names = append(names, string(lane))
	}
	return strings.Join(names, " or ")
}
