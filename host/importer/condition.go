package importer

import (
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
)

// call is a condition of mission.yaml, as artifact_exists("spec.md").
type call struct {
	name string
	args []string
}

// parseCall reads one; ok is false for what is no call.
func parseCall(text string) (c call, ok bool) {
	text = strings.TrimSpace(text)
	name, rest, ok := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || mission.CheckInputKey(name) != nil {
		return call{}, false
	}
	c.name = name
	for inner = strings.TrimSpace(inner); inner != ""; {
		var arg string
		arg, inner, ok = cutArgument(inner)
		if !ok {
			return call{}, false
		}
		c.args = append(c.args, arg)
	}
	return c, true
}

// cutArgument takes the first argument off: text in quotes of either kind, or
// what stands before the next comma.
func cutArgument(text string) (arg, rest string, ok bool) {
	if quote := text[0]; quote == '"' || quote == '\'' {
		arg, rest, ok = strings.Cut(text[1:], string(quote))
		rest = strings.TrimSpace(rest)
		if !ok || rest != "" && rest[0] != ',' {
			return "", "", false
		}
		return arg, strings.TrimSpace(strings.TrimPrefix(rest, ",")), true
	}
	arg, rest, _ = strings.Cut(text, ",")
	arg = strings.TrimSpace(arg)
	return arg, strings.TrimSpace(rest), arg != "" && !strings.ContainsAny(arg, `"'()`)
}

// guardOf is the guard that makes the same check; why says that there is none.
func (in *importing) guardOf(c call) (g mission.Guard, why string) {
	switch {
	case c.name == "artifact_exists" && len(c.args) == 1:
		g.Artifact = &mission.ArtifactGuard{Path: c.args[0]}
	case c.name == "event_count" && len(c.args) == 2:
		n, err := strconv.Atoi(c.args[1])
		if err != nil || n < 1 {
			return g, "its number of events is none"
		}
		g.Event = &mission.EventGuard{Type: c.args[0], Min: n}
	case c.name == "input_provided" && len(c.args) == 1:
		g.Input = c.args[0]
	case c.name == "gate_passed" && len(c.args) == 1:
		return g, "no guard looks for the gate " + strconv.Quote(c.args[0]) + ", but one of [[audits]] asks a person"
	default:
		return g, "no guard makes this check"
	}
	return g, in.unfit(g)
}

// unfit says why a guard is none that a definition may hold.
func (in *importing) unfit(g mission.Guard) string {
	if g.Artifact != nil && strings.HasSuffix(g.Artifact.Path, "/") {
		return strconv.Quote(g.Artifact.Path) + " is a folder, and artifacts are files"
	}
	probe := mission.Definition{Key: "probe", Steps: []mission.Step{{ID: "probe", Guards: []mission.Guard{g}}}}
	for _, step := range in.def.Steps {
		probe.Steps[0].Inputs = append(probe.Steps[0].Inputs, step.Inputs...)
	}
	for _, p := range probe.Check() {
		if strings.Contains(p.Path, "guards[0]") {
			return p.Message
		}
	}
	return ""
}
