package main

import (
	"io/fs"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// unsyncedDisk is the real disk, but nothing waits for it. It is for making
// projects, never for measuring.
type unsyncedDisk struct{ durable.Disk }

type unsyncedFile struct{ durable.File }

func unsynced() durable.Disk { return unsyncedDisk{durable.OS()} }

func (unsyncedDisk) SyncDir(string) error { return nil }
func (unsyncedFile) Sync() error          { return nil }

func (d unsyncedDisk) OpenFile(path string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}
