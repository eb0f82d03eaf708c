package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/mission"
)

// makeMission makes a mission's folder with a meta.json. It writes only where
// nothing stands, and all or nothing; undo takes back what it made.
func (p *Project) makeMission(slug, missionType string) (undo func(), err error) {
	if err := p.clash(slug); err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Config.SpecsDir(), slug)
	made := missing(dir)
	undo = func() {
		if made {
			_ = os.Remove(dir) // if it is empty: it is not ours alone
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	meta, err := json.MarshalIndent(map[string]string{
		"mission_id": p.newULID().String(), "mission_slug": slug, "mission_type": missionType,
	}, "", "  ")
	if err == nil {
		err = writeOnce(filepath.Join(dir, lanes.MetaFile), append(meta, '\n'))
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return undo, nil
	case err != nil:
		undo()
		return nil, err
	}
	return func() {
		_ = os.Remove(filepath.Join(dir, lanes.MetaFile))
		undo()
	}, nil
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// writeOnce writes a new file as a whole, or not at all. One that is there
// already is fs.ErrExist, and stays.
func writeOnce(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".meta-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), path)
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
