package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/host/mission"
)

// ImportRequest asks for a mission type of the Python program to be taken over.
type ImportRequest struct {
	Root    string // the project, or a folder in it; "": the working folder
	Path    string // a mission-runtime.yaml, a mission.yaml, or the folder they lie in
	Prompts string // a further folder of prompts, which comes first; "": none
	Type    string // the type's key; "": what the definition says
	Out     string // where it is written, below the project root; "": missions/TYPE
}

// MissionImport is a mission type that was taken over.
type MissionImport struct {
	Schema       int          `json:"schema"`
	Sources      []string     `json:"sources"` // the files that were read, absolute
	MissionType  string       `json:"mission_type"`
	Path         string       `json:"path"`      // of the definition, absolute
	Written      []string     `json:"written"`   // relative to the project root, with slashes
	Unchanged    []string     `json:"unchanged"` // as Written; these were there already, byte for byte
	Config       string       `json:"config"`    // absolute
	Changed      bool         `json:"config_changed"`
	Line         int          `json:"config_line"` // of the type's table in it
	Notes        []ImportNote `json:"notes"`
	WithoutGuard []string     `json:"without_guard"` // ids of steps
	Next         []string     `json:"next"`          // commands to go on with
}

// ImportNote is something about the import that a person should know.
type ImportNote struct {
	Code    importer.Code `json:"code"`
	File    string        `json:"file"` // absolute
	Line    int           `json:"line"`
	Column  int           `json:"column"`
	StepID  *string       `json:"step_id"`
	Message string        `json:"message"`
}

// ImportMission reads a mission type of the Python program, writes it as one of ours
// and names it in the configuration. It overwrites nothing: a file that is there
// already must have the same bytes, so a second import changes nothing. When it
// returns without error the type is valid; when not, nothing is left. Errors are
// *Error. Calls that change the configuration at the same moment, here and in other
// processes, do so one after the other, and what a person saves meanwhile stays.
func ImportMission(ctx context.Context, q ImportRequest) (MissionImport, error) {
	if err := mission.CheckName(q.Type); q.Type != "" && err != nil {
		return MissionImport{}, fail(CodeUsage, "name the type with letters, digits, - and _", "--type %q is no type's name: %v", q.Type, err)
	}
	root, err := findRoot(q.Root)
	if err != nil {
		return MissionImport{}, classify(err)
	}
	cfg, err := config.LoadUnpinned(root)
	if err != nil {
		return MissionImport{}, classify(err)
	}
	src, err := readImport(q)
	if err != nil {
		return MissionImport{}, classify(err)
	}
	defer src.close()
	got, err := importer.Import(src.Source)
	if err != nil {
		return MissionImport{}, classify(err)
	}
	out := MissionImport{Schema: Schema, MissionType: got.Definition.Key, Config: cfg.File, WithoutGuard: got.WithoutGuard, Notes: []ImportNote{}}
	for _, f := range []importer.File{src.Definition, src.Machine, src.Artifacts} {
		if f.Name != "" {
			out.Sources = append(out.Sources, f.Name)
		}
	}
	for _, n := range got.Notes {
		out.Notes = append(out.Notes, ImportNote{Code: n.Code, File: n.File, Line: n.Line, Column: n.Column, StepID: text(n.Step), Message: n.Message})
	}
	if err := out.write(ctx, cfg, q.Out, got); err != nil {
		return MissionImport{}, classify(err)
	}
	at := ""
	if q.Root != "" {
		at = " --root " + quote(cfg.Root)
	}
	out.Next = []string{"spec-kitty mission validate" + at, "spec-kitty mission simulate " + out.MissionType + at}
	return out, nil
}

// importSource is what is imported, and the folders that are open for it.
type importSource struct {
	importer.Source
	open []*os.Root
}

func (s *importSource) close() {
	for _, folder := range s.open {
		folder.Close() // only read from
	}
}

// readImport finds the files that belong together: those beside the one that
// was named, or in the folder that was.
func readImport(q ImportRequest) (src *importSource, err error) {
	path, err := filepath.Abs(q.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fail(CodeNotFound, "name a mission-runtime.yaml, a mission.yaml or the folder they lie in", "%s cannot be read: %v", path, cause(err))
	}
	dir, name := path, ""
	if !info.IsDir() {
		dir, name = filepath.Dir(path), filepath.Base(path)
	}
	src = &importSource{Source: importer.Source{Folder: filepath.Base(dir), Key: q.Type}}
	folders := []string{dir}
	if q.Prompts != "" {
		folders = []string{q.Prompts, dir}
	}
	for _, folder := range folders {
		opened, err := readonly.Folder(folder)
		if err != nil {
			src.close()
			return nil, fail(CodeNotFound, "name a folder with --prompts", "the prompts' folder %s cannot be read: %v", folder, cause(err))
		}
		src.open, src.Prompts = append(src.open, opened), append(src.Prompts, opened.FS())
	}
	if err := src.files(src.open[len(src.open)-1], dir, name); err != nil {
		src.close()
		return nil, err
	}
	return src, nil
}

// files reads the definition and what lies beside it. A mission.yaml beside a
// mission-runtime.yaml is its state machine; one that was named is a definition.
func (s *importSource) files(root *os.Root, dir, name string) (err error) {
	read := func(name string, into *importer.File) error {
		data, _, err := readonly.File(root, name, importer.MaxSource)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return placed(fail(CodeDefinitionInvalid, "make it a regular file of at most 1 MiB in this folder", "%v", err), filepath.Join(dir, name), 0)
		}
		*into = importer.File{Name: filepath.Join(dir, name), Data: data}
		return nil
	}
	const runtime, machine = "mission-runtime.yaml", "mission.yaml"
	if name == "" {
		name = runtime
	}
	err = read(name, &s.Definition)
	if err == nil && s.Definition.Name == "" {
		err = read(machine, &s.Definition)
	} else if err == nil && name != machine {
		err = read(machine, &s.Machine)
	}
	if err == nil {
		err = read("expected-artifacts.yaml", &s.Artifacts)
	}
	if err == nil && s.Definition.Name == "" {
		err = fail(CodeNotFound, "name the folder of a mission type, or its file", "%s has no %s and no %s", dir, runtime, machine)
	}
	return err
}
