package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// makeMission makes a mission's folder with a meta.json. It writes only where
// nothing stands, and all or nothing. What it made is durable on return, as the run
// is that works in it; undo takes it back.
func (p *Project) makeMission(slug, missionType string) (undo func(), err error) {
	if err := p.clash(slug); err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Config.SpecsDir(), slug)
	folders := absent(dir)
	if err := durable.MkdirAll(p.world.disk(), dir, 0o755); err != nil {
		removeAll(folders)
		return nil, err
	}
	meta, err := json.MarshalIndent(map[string]string{
		"mission_id": p.newULID().String(), "mission_slug": slug, "mission_type": missionType,
	}, "", "  ")
	file := filepath.Join(dir, lanes.MetaFile)
	if err == nil {
		_ = durable.RemoveDeadTempsOf(p.world.disk(), file)
		err = durable.Add(p.world.disk(), file, append(meta, '\n'), 0o644)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return func() { removeAll(folders) }, nil
	case err != nil:
		removeAll(folders)
		return nil, err
	}
	return func() { removeAll(append([]string{file}, folders...)) }, nil
}

// absent lists the folders that making dir makes, the innermost first.
func absent(dir string) []string {
	var folders []string
	for ; missing(dir); dir = filepath.Dir(dir) {
		folders = append(folders, dir)
	}
	return folders
}

// removeAll takes back what was made, in this order. A folder that somebody put
// something into meanwhile is not ours alone: it stays.
func removeAll(paths []string) {
	for _, path := range paths {
		_ = os.Remove(path)
	}
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// clash refuses a name that differs from a mission's only by the case of
// letters: on many file systems the two are one.
func (p *Project) clash(slug string) error {
	entries, err := os.ReadDir(p.Config.SpecsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != slug && mission.Fold(e.Name()) == mission.Fold(slug) {
			return fail(CodeUsage, "name it "+e.Name()+", or choose another name", "mission %s differs from %s only by the case of letters", slug, e.Name())
		}
	}
	return nil
}

// MayWrite is an *Error where a file that a caller names to be written lies in the
// state folder, by whatever links: there it would take the place of a record, or be
// taken for a run.
func (p *Project) MayWrite(file string) error {
	state, err := os.Stat(p.Config.StateRoot())
	if err != nil {
		return nil // there is none yet
	}
	at, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return nil // who writes says what is wrong
	}
	for {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, state) {
			return placed(fail(CodeUsage, "name a file elsewhere", "%s lies in the state folder, which holds nothing but the runs' records; nothing was written", file), file, 0)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil
		}
		at = parent
	}
}
