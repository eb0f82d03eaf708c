package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tries bounds how often a write starts anew because its temporary name was
// taken, or its temporary file was removed by a repair that took it for a dead
// writer's.
const tries = 8

// Replace writes a file as a whole and durably: after a crash it has the old
// content or the new one, after a nil return the new one.
func Replace(d Disk, path string, data []byte, perm fs.FileMode) error {
	return ReplaceFrom(d, filepath.Dir(path), path, data, perm)
}

// ReplaceFrom is Replace with the temporary file in another folder of the same
// file system: one that is small, so that what dead writers left in it is found
// at once.
func ReplaceFrom(d Disk, temps, path string, data []byte, perm fs.FileMode) error {
	if err := swap(d, temps, path, data, perm, true, renameTo(d, path)); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// ReplaceIf is Replace with a last look, when the new content is durable and
// right before it takes its place. Its error ends the write, and nothing is
// replaced.
func ReplaceIf(d Disk, path string, data []byte, perm fs.FileMode, look func() error) error {
	rename := renameTo(d, path)
	err := swap(d, filepath.Dir(path), path, data, perm, true, func(temp string) error {
		if err := look(); err != nil {
			return err
		}
		return rename(temp)
	})
	if err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// Add writes a file as a whole and durably where there is none. Where there is
// one, whoever made it and whenever, that is fs.ErrExist and it stays as it is:
// the operating system decides it in one step.
func Add(d Disk, path string, data []byte, perm fs.FileMode) error {
	err := swap(d, filepath.Dir(path), path, data, perm, true, func(temp string) error {
		if err := d.Link(temp, path); err != nil {
			return err
		}
		if err := d.Remove(temp); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

func renameTo(d Disk, path string) func(temp string) error {
	return func(temp string) error { return d.Rename(temp, path) }
}

// Publish writes a file as a whole for every reader, but not durably: after a
// crash it may have any content, so the content must prove itself. Concurrent
// writers of one file do not disturb each other; the last rename wins.
func Publish(d Disk, path string, data []byte, perm fs.FileMode) error {
	return PublishFrom(d, filepath.Dir(path), path, data, perm)
}

// PublishFrom is Publish with the temporary file in another folder, as with
// ReplaceFrom.
func PublishFrom(d Disk, temps, path string, data []byte, perm fs.FileMode) error {
	return swap(d, temps, path, data, perm, false, renameTo(d, path))
}

// swap writes a temporary file and puts it in its place. The name is unique
// and the file made with O_EXCL: with one name for all, a second writer would
// truncate the file that the first is about to rename.
func swap(d Disk, temps, path string, data []byte, perm fs.FileMode, sync bool, put func(temp string) error) error {
	var err error
	for range tries {
		temp := tempName(temps, filepath.Base(path))
		err = writeNew(d, temp, data, perm, sync)
		if errors.Is(err, fs.ErrExist) {
			continue // another writer's
		}
		if err == nil {
			if err = put(temp); err == nil {
				return nil
			}
		}
		// It is of no use. If it cannot be removed, the next repair will.
		_ = d.Remove(temp)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return fmt.Errorf("replace %s: %w", path, err)
}

func writeNew(d Disk, path string, data []byte, perm fs.FileMode, sync bool) (err error) {
	f, err := d.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// Create writes a new file durably; its name is durable after a SyncDir.
func Create(d Disk, path string, data []byte, perm fs.FileMode) error {
	return writeNew(d, path, data, perm, true)
}

// ReadFile reads a whole file of at most limit bytes.
func ReadFile(d Disk, path string, limit int64) ([]byte, error) {
	f, err := d.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	switch {
	case err != nil:
		return nil, err
	case size > limit:
		return nil, fmt.Errorf("%s has %d bytes, the most is %d", path, size, limit)
	case size == 0:
		return nil, nil
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if n == len(data) {
		return data, nil
	}
	return data[:n], err
}

// MkdirAll makes a folder and its parents where they are missing, and makes
// the new names durable. One that is there may have a name that is not: whoever made
// it may have died before that.
func MkdirAll(d Disk, path string, perm fs.FileMode) error {
	switch info, err := d.Stat(path); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("a file is in the way")}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(d, parent, perm); err != nil {
			return err
		}
	}
	switch err := d.Mkdir(path, perm); {
	case errors.Is(err, fs.ErrExist): // somebody was first, or has a link there
		if _, err := d.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("a link that leads nowhere is in the way")}
		}
	case err != nil:
		return err
	}
	return d.SyncDir(parent)
}
