package artifact

import (
	"path"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/durable"
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
	if why := g.Kept(name); why != "" {
		return "", why
	}
	for _, folder := range g.Folders {
		if at, missing := g.expand(folder); missing == "" && inside(name, at) {
			return name, ""
		}
	}
	return "", "lies in no folder that `write` grants: " + strings.Join(g.Folders, ", ")
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
// written by their keepers.
func (g Grant) Kept(name string) string {
	parts := strings.Split(mission.Fold(name), "/")
	last := parts[len(parts)-1]
	switch {
	case g.State != "" && inside(mission.Fold(name), mission.Fold(g.State)):
		return "lies in the state folder, which is the step runner's own"
	case slices.Contains(parts, ".git"):
		return "lies in .git"
	case mission.Fold(name) == mission.Fold(g.Config):
		return "is the project's configuration"
	case slices.Contains(logs(), last):
		return "is a log or a mark that its own tool keeps"
	case durable.IsTemp(path.Base(name)):
		return "has the name of a temporary file"
	case slices.ContainsFunc(parts, mission.Device):
		return "has a name that Windows keeps for a device"
	}
	return ""
}

// logs are the files of a mission that say how its work stands.
func logs() []string {
	return []string{"status.events.jsonl", "status.json", "mission-events.jsonl", "meta.json", "lanes.json"}
}

func inside(name, folder string) bool {
	return strings.HasPrefix(name, folder+"/")
}
