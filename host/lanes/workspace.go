package lanes

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

const (
	worktrees      = ".worktrees"
	planningLane   = "lane-planning" // works in the project itself, never in a worktree
	workspaceLimit = 8 << 20
)

// Workspaces reads lanes.json of the mission m: by package id, the absolute path
// of the worktree it is worked on in, .worktrees/SLUG-LANE below the project's
// root, also where it was not made yet. A mission without the file has none, and
// a package of the planning lane has none of its own. A damaged file, or one
// that gives a package two lanes, is a *FileError.
func Workspaces(project string, m Mission) (map[string]string, error) {
	root, err := readonly.Folder(m.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	path := filepath.Join(m.Dir, WorkspacesFile)
	data, _, err := readonly.File(root, WorkspacesFile, workspaceLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	return workspaces(project, m.Slug, path, trimMark(data))
}

// CheckWorkspace tells whether the worktree at path, one of those of Workspaces, is
// there. The error says why what is there must not be used: a link leads to it, or
// it is no folder. A worktree is content of the project, so what a link in its
// place leads to would be read, and worked in, as if the project had it.
func CheckWorkspace(project, path string) (there bool, err error) {
	if path == "" {
		return false, nil
	}
	project, err = filepath.Abs(project)
	if err != nil {
		return false, err
	}
	name, err := filepath.Rel(project, path)
	if err != nil || !filepath.IsLocal(name) {
		return false, &FileError{Path: path, Why: "it lies outside the project " + project, Err: err}
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return false, err
	}
	defer root.Close()
	tree, err := readonly.Enter(root, filepath.ToSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	return true, tree.Close()
}

type workspaceJSON struct {
	Lanes []struct {
		ID       string   `json:"lane_id"`
		Packages []string `json:"wp_ids"`
	} `json:"lanes"`
}

func workspaces(project, slug, path string, data []byte) (map[string]string, error) {
	var file workspaceJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, &FileError{Path: path, Line: lineOf(data, err), Why: "not as the existing tool writes it: " + err.Error(), Err: err}
	}
	base, err := filepath.Abs(filepath.Join(project, worktrees))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	lane := map[string]string{}
	for _, l := range file.Lanes {
		if err := mission.CheckName(l.ID); err != nil {
			return nil, &FileError{Path: path, Why: "lane_id: " + err.Error(), Err: err}
		}
		for _, id := range l.Packages {
			if other, twice := lane[id]; twice && other != l.ID {
				return nil, &FileError{Path: path, Why: id + " is in two lanes, " + other + " and " + l.ID}
			}
			lane[id] = l.ID
			if l.ID != planningLane {
				all[id] = filepath.Join(base, slug+"-"+l.ID)
			}
		}
	}
	return all, nil
}
