//go:build !windows

package durable

import "os"

func rename(oldpath, newpath string) error { return os.Rename(oldpath, newpath) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		dir.Close()
		return err
	}
	return dir.Close()
}
