package artifact

import (
	"path"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// Placeholders that a path may begin with in place of a folder.
const (
	InMission   = "{mission}"
	InWorkspace = "{workspace}"
)

// Grant is where an executor's files may go. Paths are relative to the project,
// clean, with slashes.
type Grant struct {
	Folders   []string // granted, placeholders among them
	Mission   string   // the mission's folder; "": it lies outside the project
	Workspace string   // the package's work tree; "": there is none
	State     string   // the state root; "": it lies outside the project
	Config    string   // the configuration's file
}

// Resolve gives the path, relative to the project, of a file that was asked for
// by a path that may begin with a placeholder. why is a sentence for the
// plugin's author where nothing may be written there.
func (g Grant) Resolve(asked string) (name, why string) {
	name, why = g.expand(asked)
	if why != "" {
		return "", why
	}
	if why := g.Allows(name); why != "" {
		return "", why
	}
	return name, ""
}

// Allows says why nothing may be written at a path of the project, as Resolve
// gives it; "" where it may.
func (g Grant) Allows(name string) (why string) {
	if why := g.Kept(name); why != "" {
		return why
	}
	for _, folder := range g.Folders {
		if at, missing := g.expand(folder); missing == "" && inside(name, at) {
			return ""
		}
	}
	return "lies in no folder that `write` grants: " + strings.Join(g.Folders, ", ")
}

func (g Grant) expand(asked string) (name, why string) {
	first, rest, _ := strings.Cut(asked, "/")
	switch first {
	case InMission:
		return below(g.Mission, rest, "the mission's folder lies outside the project")
	case InWorkspace:
		return below(g.Workspace, rest, "there is no work tree")
	}
	return asked, ""
}

func below(folder, rest, missing string) (name, why string) {
	if folder == "" {
		return "", "cannot be written: " + missing
	}
	return path.Join(folder, rest), ""
}

// Kept says why a path is not an executor's to write, whatever is granted; "" for
// one that may be granted. The runs' state, locks and event logs are only ever
// written by their keepers, and no folder is made in the place of one. A path that
// is not written as Resolve gives it may lead anywhere, so it is refused.
func (g Grant) Kept(name string) string {
	folded := mission.Fold(name)
	parts := strings.Split(folded, "/")
	switch {
	case slices.Contains(parts, ".git"):
		return "lies in .git"
	case abi.PathFault(name) != "":
		return "is no path of a file in the project: " + abi.PathFault(name)
	case g.State != "" && within(folded, mission.Fold(g.State)):
		return "lies in the state folder, which is the step runner's own"
	case within(folded, mission.Fold(g.Config)):
		return "is the project's configuration"
	case slices.ContainsFunc(parts, isLog):
		return "is a log or a mark that its own tool keeps"
	case slices.ContainsFunc(parts, durable.IsTemp):
		return "has the name of a temporary file"
	case slices.ContainsFunc(parts, mission.Device):
		return "has a name that Windows keeps for a device"
	}
	return ""
}

// isLog tells a file of a mission that says how its work stands.
func isLog(name string) bool {
	switch name {
	case "status.events.jsonl", "status.json", "mission-events.jsonl", "meta.json", "lanes.json":
		return true
	}
	return false
}

// within tells whether a path is a folder's, or lies in it.
func within(name, folder string) bool { return name == folder || inside(name, folder) }

func inside(name, folder string) bool {
	return strings.HasPrefix(name, folder+"/")
}
