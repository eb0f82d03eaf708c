package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A temporary file is called .NAME.tmp-PPPPPPPPRRRRRRRR: who writes it, by
// process id, and a random number, both in hexadecimal. The id lets a dead
// writer's be told from that of one at work. An id that another process has by
// now keeps the file a while longer, which costs its space.

const (
	tempMark   = ".tmp-"
	pidDigits  = 8
	tempDigits = 2 * pidDigits
)

func tempName(dir, base string) string {
	return filepath.Join(dir, fmt.Sprintf(".%s%s%08x%08x", base, tempMark, uint32(os.Getpid()), rand.Uint32()))
}

// IsTemp tells whether a file's name is one that Replace and Publish write
// under before they rename.
func IsTemp(name string) bool {
	i := strings.LastIndex(name, tempMark)
	return i > 1 && name[0] == '.' && len(name) == i+len(tempMark)+tempDigits &&
		strings.Trim(name[len(name)-tempDigits:], "0123456789abcdef") == ""
}

// isDead tells whether a temporary file's writer is gone.
func isDead(name string) bool {
	digits := name[len(name)-tempDigits:]
	pid, err := strconv.ParseInt(digits[:pidDigits], 16, 32) // no process has a larger one
	return err != nil || !lives(int(pid))
}

// RemoveTemps removes the temporary files in a folder and those below it. A
// writer that is alive and loses its file this way begins anew.
func RemoveTemps(d Disk, dir string) error {
	return removeTemps(d, dir, true, func(string) bool { return true })
}

// RemoveDeadTemps removes the temporary files of writers that are gone, in one
// folder and not below it. It disturbs nobody.
func RemoveDeadTemps(d Disk, dir string) error {
	return removeTemps(d, dir, false, isDead)
}

// RemoveTempsOf removes the temporary files of one file. The caller knows that
// nobody writes it.
func RemoveTempsOf(d Disk, path string) error {
	mine := "." + filepath.Base(path) + tempMark
	return removeTemps(d, filepath.Dir(path), false, func(name string) bool { return strings.HasPrefix(name, mine) })
}

// RemoveDeadTempsOf removes the temporary files of one file whose writers are
// gone, before it is written again: for a file in a folder that no repair looks
// through. It disturbs nobody.
func RemoveDeadTempsOf(d Disk, path string) error {
	mine := "." + filepath.Base(path) + tempMark
	return removeTemps(d, filepath.Dir(path), false, func(name string) bool { return strings.HasPrefix(name, mine) && isDead(name) })
}

func removeTemps(d Disk, dir string, below bool, chosen func(name string) bool) error {
	entries, err := d.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && below:
			err = removeTemps(d, path, below, chosen)
		case !e.IsDir() && IsTemp(e.Name()) && chosen(e.Name()):
			err = d.Remove(path)
		default:
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
