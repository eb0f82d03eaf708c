// Package artifact puts files that an executor left into their places in a
// project: all of them or none, each as a whole, durably, and only where nothing
// else stands than what it was made to replace. It promises that a path leads to
// a regular file inside the project with no link on the way, in what it looks at
// and, again, in what it writes. Nothing foreign runs in it, so it may be called
// under a lock. Two publications of one project are not to run at the same time,
// which the runner's artifacts.lock sees to; all else may be called by any number of goroutines.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Absent is the digest of a file that is not there.
const Absent = "absent"

// maxReplaced is the size of the largest file that an artifact may replace,
// bytes: it is read under the run's lock.
const maxReplaced = 4 << 20

// File is one file to be made.
type File struct {
	Path     string // relative to the project, with slashes
	Data     []byte
	Replaces string // digest of what may stand there; Absent: nothing may
}

// Digest is the SHA-256 of a content, in 64 hex digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// InTheWayError says that a file cannot be put at a path as things stand: a link
// or a file on the way, a folder or something else in its place.
type InTheWayError struct {
	Path string // the artifact's
	At   string // what is in the way
	Why  string
}

func (e *InTheWayError) Error() string {
	if e.At == e.Path {
		return fmt.Sprintf("%s %s", e.Path, e.Why)
	}
	return fmt.Sprintf("%s cannot be written: %s %s", e.Path, e.At, e.Why)
}

// Place is one project's tree.
type Place struct {
	root string
	disk durable.Disk
}

// At is the tree of the project at root, an absolute path, on a disk; nil is the
// real one, reached through folders that are opened one inside the other, so
// that nobody can lead a write out of the project by changing a folder.
func At(root string, disk durable.Disk) *Place {
	if disk == nil {
		disk = Disk(root)
	}
	return &Place{root: root, disk: disk}
}

func (p *Place) file(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// Look gives the digest of what stands at a path, or Absent. What is in the way
// is an *InTheWayError.
func (p *Place) Look(name string) (string, error) {
	digest, _, err := p.look(name)
	return digest, err
}

func (p *Place) look(name string) (string, fs.FileMode, error) {
	for _, folder := range above(name) {
		info, err := p.disk.Stat(p.file(folder))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Absent, 0, nil
		case err != nil:
			return "", 0, err
		case !info.IsDir():
			return "", 0, &InTheWayError{Path: name, At: folder, Why: "is " + durable.What(info.Mode()) + ", not a folder: put the folder itself there"}
		}
	}
	info, err := p.disk.Stat(p.file(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Absent, 0, nil
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, &InTheWayError{Path: name, At: name, Why: "is " + durable.What(info.Mode()) + ", not a file: move it away"}
	case info.Size() > maxReplaced:
		return "", 0, &InTheWayError{Path: name, At: name, Why: fmt.Sprintf("has more than %d MiB, which is as much as is replaced: move it away", maxReplaced>>20)}
	}
	digest, err := p.digest(name)
	return digest, info.Mode().Perm(), err
}

func (p *Place) digest(name string) (string, error) {
	f, err := p.disk.OpenFile(p.file(name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, maxReplaced+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// above lists the folders that lead to a name, the outermost first.
func above(name string) []string {
	var folders []string
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		folders = append([]string{at}, folders...)
	}
	return folders
}
