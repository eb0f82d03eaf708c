package commit_test

import (
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// FR-003, NFR-003: the contract, in real files with real locks.
func TestFilesConform(t *testing.T) {
	committest.Run(t, func(t *testing.T) committest.Env {
		root, outside := filepath.Join(t.TempDir(), "state", "root"), &committest.Outside{}
		return committest.Env{Outside: outside, Open: func() committest.Catalog {
			return commit.NewFiles(root, committest.Counter{}, outside, commit.Options{})
		}}
	})
}

func TestMemoryConforms(t *testing.T) {
	committest.Run(t, func(t *testing.T) committest.Env {
		disk, lock, outside := durable.NewMem(), locks.Local(), &committest.Outside{}
		return committest.Env{Outside: outside, Open: func() committest.Catalog {
			return commit.NewFiles("/root", committest.Counter{}, outside, commit.Options{Disk: disk, Locks: lock})
		}}
	})
}
