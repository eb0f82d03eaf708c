package readonly

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// NotStraightError says that the way to a folder leads over something that is no
// folder: mostly a link, wherever that leads.
type NotStraightError struct {
	At   string      // the part of the way, relative to where it began, with slashes
	Mode os.FileMode // of what is there
}

func (e *NotStraightError) Error() string {
	if e.Mode&os.ModeSymlink != 0 {
		return e.At + " is a link: put the folder itself there"
	}
	return fmt.Sprintf("%s is %s, not a folder", e.At, kind(e.Mode))
}

// Folder opens a folder by a path that its caller vouches for: links are followed. What
// is no folder is a *NotStraightError; unlike os.OpenRoot it waits for no pipe that is
// in its place.
func Folder(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &NotStraightError{At: path, Mode: info.Mode()}
	}
	return os.OpenRoot(path)
}

// FolderIn is Folder of a name inside root; its links may lead nowhere else.
func FolderIn(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &NotStraightError{At: name, Mode: info.Mode()}
	}
	return root.OpenRoot(name)
}

// Enter opens the folder name (relative, with slashes) below root, one part after
// the other, and follows no link, not even one that stays below root: a
// *NotStraightError names the first. root stays open. A part that becomes a link
// between the look and the open is noticed, since what was opened is held against
// what was seen.
func Enter(root *os.Root, name string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	way := ""
	for _, part := range strings.Split(name, "/") {
		way = path.Join(way, part)
		next, err := enter(at, part, way)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func enter(at *os.Root, part, way string) (*os.Root, error) {
	seen, err := at.Lstat(part)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &NotStraightError{At: way, Mode: seen.Mode()}
	}
	next, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(seen, is) {
		next.Close()
		return nil, &NotStraightError{At: way, Mode: os.ModeSymlink}
	}
	return next, nil
}
