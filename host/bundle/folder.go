package bundle

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// PackFolder packs all files below a folder. Links, pipes and devices are errors,
// as are files that cannot be read, so that nothing is left out unseen; so is a
// folder that is over the bounds, which is noticed without reading all of it.
func PackFolder(dir string) ([]byte, error) {
	root, err := readonly.Folder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reader{root: root, left: MaxBytes}
	if err := r.folder("."); err != nil {
		return nil, err
	}
	return Pack(r.files)
}

type reader struct {
	root    *os.Root
	files   []File
	folders int
	left    int64 // bytes that may still be read
}

func (r *reader) folder(name string) error {
	if r.folders++; r.folders > MaxFiles {
		return fmt.Errorf("there are more than %d folders", MaxFiles)
	}
	f, err := r.root.OpenFile(name, os.O_RDONLY|readonly.NoWait, 0)
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(MaxFiles + 1)
	_ = f.Close()
	if err != nil && err != io.EOF {
		return err
	}
	if len(entries)+len(r.files) > MaxFiles {
		return fmt.Errorf("there are more than %d files: keep there what the plugin needs alone", MaxFiles)
	}
	for _, e := range entries {
		if err := r.entry(path.Join(name, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) entry(name string, e fs.DirEntry) error {
	if err := checkName(name); err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return r.folder(name)
	case !e.Type().IsRegular():
		return fmt.Errorf("%s is no regular file (%s): put a copy of what it stands for there", name, e.Type())
	}
	return r.file(name)
}

// file reads one file. It looks at the kind again on what it opened, and opens so
// that a pipe in the file's place cannot hold it up.
func (r *reader) file(name string) error {
	f, err := r.root.OpenFile(name, os.O_RDONLY|readonly.NoWait, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, r.left+1))
	if err != nil {
		return err
	}
	if r.left -= int64(len(data)); r.left < 0 {
		return errTooLarge()
	}
	r.files = append(r.files, File{Name: name, Data: data})
	return nil
}
