package guard

import (
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

func either(lanes []mission.Lane) string {
	names := make([]string, 0, len(lanes))
	for _, lane := range lanes {
		names = append(names, string(lane))
	}
	return strings.Join(names, " or ")
}
