package runner

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/scaffold"
)

// Initiated is a new project.
type Initiated struct {
	Schema      int       `json:"schema"`
	Root        string    `json:"root"`    // absolute
	Created     []string  `json:"created"` // relative to the root, with slashes
	MissionType string    `json:"mission_type"`
	Next        []string  `json:"next"` // commands to go on with
	Warnings    []Warning `json:"warnings"`
}

// Init makes a project in a folder ("": the working one): a configuration, a
// mission type and the folder of the missions. It overwrites nothing, and what
// it wrote is valid. Errors are *Error.
func Init(folder string) (Initiated, error) {
	if folder == "" {
		folder = "."
	}
	dir, err := filepath.Abs(folder)
	if err != nil {
		return Initiated{}, classify(err)
	}
	made := Initiated{Schema: Schema, Root: dir, MissionType: scaffold.MissionType, Warnings: []Warning{}}
	if err := made.look(nearest(dir)); err != nil {
		return Initiated{}, classify(err)
	}
	if made.Created, err = scaffold.Write(dir); err != nil {
		return Initiated{}, classify(notOverwritten(err))
	}
	at := ""
	if folder != "." {
		at = " --root " + quote(dir)
	}
	made.Next = []string{
		"spec-kitty mission validate" + at,
		"spec-kitty mission simulate " + scaffold.MissionType + at,
		"spec-kitty run start 001-my-first" + at,
	}
	return made, nil
}

// nearest is the folder itself, or the nearest above it that is there.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// look refuses a place where the project would not be found, and warns of one
// that lies in another project.
func (made *Initiated) look(dir string) error {
	main, linked, err := config.LinkedWorktree(dir)
	switch {
	case err != nil:
		return err
	case linked:
		return fail(CodeUsage, "call it in the main worktree, "+main, "%s lies in a linked git worktree: projects are those of the main one", made.Root)
	}
	around, err := config.FindRoot(dir)
	var none *config.NotFoundError
	switch {
	case errors.As(err, &none):
		return nil
	case err != nil:
		return err
	case around != made.Root:
		made.Warnings = append(made.Warnings, Warning{Code: "inside_project",
			Message: made.Root + " lies in the project " + around + "; calls from here go by the new one, with missions and runs of its own"})
	}
	return nil
}

func notOverwritten(err error) error {
	var exists *scaffold.ExistsError
	if !errors.As(err, &exists) {
		return err
	}
	e := fail(CodeAlreadyExists, "name another folder, or move these files away", "%s", exists.Error())
	e.Candidates = exists.Paths
	e.File = filepath.Join(exists.Dir, filepath.FromSlash(exists.Paths[0]))
	e.Err = err
	return e
}
