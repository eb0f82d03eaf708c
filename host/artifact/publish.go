package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// ConflictError says that something else stands where files were to be put.
// Nothing was overwritten.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	return "other content stands at " + strings.Join(e.Paths, ", ") + " than what was to be replaced; it was not overwritten"
}

// Publish puts all files in their places. Where one of them has other content in
// its place nothing is written, and the error is a *ConflictError. What lies
// there already is left as it is, so a publication that was cut short can be
// done again. On a nil return content and names are durable.
//
// A file may be changed by somebody else between the look at all of them and its
// own writing. It is not overwritten; those before it are made by then. Where
// nothing may stand, whatever comes to stand there is kept, at whatever moment it
// comes. What is replaced is looked at once more when the new content waits beside
// it: only who writes between that look and the rename is not seen.
func (p *Place) Publish(files []File) error {
	if _, err := p.survey(files); err != nil {
		return err
	}
	for _, f := range files {
		if err := p.put(f); err != nil {
			return err
		}
	}
	return p.syncFolders(files)
}

// standing is what a file's place holds.
type standing struct {
	made bool        // the content lies there
	perm fs.FileMode // 0: there is nothing
}

func (p *Place) survey(files []File) ([]standing, error) {
	states := make([]standing, len(files))
	conflict := &ConflictError{}
	for i, f := range files {
		digest, perm, err := p.look(f.Path)
		if err != nil {
			return nil, err
		}
		states[i] = standing{made: digest == Digest(f.Data), perm: perm}
		// Where nothing stands any more, nothing is overwritten: somebody moved it away.
		if !states[i].made && digest != f.Replaces && digest != Absent {
			conflict.Paths = append(conflict.Paths, f.Path)
		}
	}
	if len(conflict.Paths) > 0 {
		return nil, conflict
	}
	return states, nil
}

// put makes one file, or makes durable the one that lies there: whoever wrote it
// may not have. The mode of a file that is replaced stays.
func (p *Place) put(f File) error {
	p.Sweep([]string{f.Path})
	now, err := p.survey([]File{f})
	if err != nil {
		return err
	}
	if now[0].made {
		return p.sync(f.Path)
	}
	if err := durable.MkdirAll(p.disk, filepath.Dir(p.file(f.Path)), 0o755); err != nil {
		return err
	}
	if now[0].perm == 0 {
		return p.add(f)
	}
	return p.replace(f, now[0].perm)
}

// add makes a file where nothing stands.
func (p *Place) add(f File) error {
	const perm = 0o644
	err := durable.Add(p.disk, p.file(f.Path), f.Data, perm)
	switch {
	case errors.Is(err, fs.ErrExist): // somebody was first: with the same content, or in conflict
		if _, err := p.survey([]File{f}); err != nil {
			return err
		}
		return p.sync(f.Path)
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission): // a file system without links
		return p.replace(f, perm)
	}
	return err
}

// replace makes a file in the place of one that is as it was looked at.
func (p *Place) replace(f File, perm fs.FileMode) error {
	return durable.ReplaceIf(p.disk, p.file(f.Path), f.Data, perm, func() error {
		_, err := p.survey([]File{f})
		return err
	})
}

func (p *Place) sync(name string) (err error) {
	f, err := p.disk.OpenFile(p.file(name), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = p.disk.OpenFile(p.file(name), os.O_RDONLY, 0)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}

// syncFolders makes the names durable, those of folders too: a publication that
// was cut short may have made them and not come to this.
func (p *Place) syncFolders(files []File) error {
	done := map[string]bool{}
	for _, f := range files {
		for _, folder := range append(above(f.Path), ".") {
			if done[folder] {
				continue
			}
			done[folder] = true
			if err := p.disk.SyncDir(p.file(folder)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep removes what publications that were cut short left beside the files:
// temporary files alone. What cannot be removed only takes space.
func (p *Place) Sweep(paths []string) {
	for _, name := range paths {
		_ = durable.RemoveTempsOf(p.disk, p.file(name))
	}
}
