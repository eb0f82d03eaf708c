package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/importer"
	"github.com/spec-kitty/step-runner/host/internal/readonly"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// write writes the type's files, looks whether they are valid where they lie,
// and then names them in the configuration: until that is done, nothing was
// imported.
func (out *MissionImport) write(ctx context.Context, cfg *config.Config, folder string, got *importer.Result) error {
	folder, err := below(cfg.Root, folder, "missions/"+out.MissionType)
	if err != nil {
		return err
	}
	if cfg.Reserved(path.Clean(filepath.ToSlash(folder))) {
		return fail(CodeUsage, "name a folder for definitions: missions/"+out.MissionType, "--out %s lies in git's own folder or in the state folder", folder)
	}
	file := path.Join(folder, importer.DefinitionFile)
	out.Path = filepath.Join(cfg.Root, filepath.FromSlash(file))
	before, err := config.ReadText(cfg.File)
	if err != nil {
		return err
	}
	after, line, err := out.configured(cfg, before, file)
	if err != nil {
		return err
	}
	out.Line, out.Changed = line, !bytes.Equal(before, after)
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	w := &importWriter{root: root, at: cfg.Root}
	if err := out.compare(w, folder, got.Files); err != nil {
		return err
	}
	if err := w.all(folder, got.Files, out.Written); err != nil {
		return errors.Join(err, w.undo())
	}
	if err := w.sync(); err != nil {
		return errors.Join(err, w.undo())
	}
	_, _, err = config.LoadMission(cfg.Defining(out.MissionType, file), out.MissionType)
	if err == nil && out.Changed {
		err = changeConfig(ctx, cfg, func(text []byte) (after []byte, err error) {
			after, out.Line, err = out.configured(cfg, text, file)
			return after, err
		})
	}
	if err != nil {
		return errors.Join(err, w.undo())
	}
	return nil
}

// configured is the configuration's text with the type in it, and the line of that.
func (out *MissionImport) configured(cfg *config.Config, text []byte, file string) (after []byte, line int, err error) {
	after, line, err = config.WithMission(text, out.MissionType, file)
	var invalid *config.InvalidError
	if errors.As(err, &invalid) {
		p := invalid.Problems[0]
		e := placed(fail(CodeAlreadyExists, "name another type with --type, or take this one away", "%s", invalid.Error()), cfg.File, uint64(p.Line))
		e.Err = err
		return nil, 0, e
	}
	return after, line, err
}

// below is a folder below the project root, with slashes.
func below(root, folder, absent string) (string, error) {
	if folder == "" {
		return absent, nil
	}
	rel := folder
	if filepath.IsAbs(folder) {
		var err error
		if rel, err = filepath.Rel(root, folder); err != nil {
			rel = ".."
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fail(CodeUsage, "name a folder below the project root, as missions/NAME", "%s does not lie below the project root %s", folder, root)
	}
	return path.Clean(filepath.ToSlash(rel)), nil
}

// compare sorts the files into those to write and those that are there with the
// same bytes. All that are in the way are one error, before anything is written.
func (out *MissionImport) compare(w *importWriter, folder string, files []importer.File) error {
	out.Written, out.Unchanged = []string{}, []string{}
	var taken []string
	for _, f := range files {
		name := path.Join(folder, f.Name)
		have, _, err := readonly.File(w.root, name, int64(len(f.Data)))
		_, there := w.root.Lstat(filepath.FromSlash(name))
		switch {
		case err == nil && bytes.Equal(have, f.Data):
			out.Unchanged = append(out.Unchanged, name)
		case errors.Is(there, fs.ErrNotExist):
			out.Written = append(out.Written, name)
		default:
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	e := fail(CodeAlreadyExists, "move them away, or import into another folder with --out or under another --type",
		"%s has %s already, with other bytes; nothing was written", w.at, strings.Join(taken, ", "))
	e.Candidates, e.File = taken, filepath.Join(w.at, filepath.FromSlash(taken[0]))
	return e
}

// importWriter makes new files through the project root's handle, so that no
// link leads it elsewhere, and remembers them, to take them back.
type importWriter struct {
	root *os.Root
	at   string
	made []string
}

func (w *importWriter) all(folder string, files []importer.File, wanted []string) error {
	for _, f := range files {
		name := path.Join(folder, f.Name)
		if !slices.Contains(wanted, name) {
			continue
		}
		if err := w.file(name, f.Data); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(w.at, filepath.FromSlash(name)), err)
		}
	}
	return nil
}

func (w *importWriter) file(name string, data []byte) error {
	if err := w.folder(path.Dir(name)); err != nil {
		return err
	}
	file, err := w.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w.made = append(w.made, name)
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

func (w *importWriter) folder(name string) error {
	if info, err := w.root.Stat(filepath.FromSlash(name)); err == nil && info.IsDir() {
		return nil
	}
	if parent := path.Dir(name); parent != "." {
		if err := w.folder(parent); err != nil {
			return err
		}
	}
	err := w.root.Mkdir(filepath.FromSlash(name), 0o755)
	if err == nil {
		w.made = append(w.made, name)
	}
	return err
}

// sync makes the names of what was made durable, before the configuration names it.
func (w *importWriter) sync() error {
	synced := map[string]bool{}
	for _, name := range w.made {
		dir := path.Dir(name)
		if synced[dir] {
			continue
		}
		synced[dir] = true
		if err := durable.OS().SyncDir(filepath.Join(w.at, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	return nil
}

// undo removes what was made, the newest first.
func (w *importWriter) undo() error {
	var failed error
	for _, name := range slices.Backward(w.made) {
		failed = errors.Join(failed, w.root.Remove(filepath.FromSlash(name)))
	}
	return failed
}
