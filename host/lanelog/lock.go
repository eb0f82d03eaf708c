package lanelog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/host/lanes"
)

const locksFolder = "spec-kitty-locks"

// Kept tells whether the mission in the folder dir has a lane log, whose lock is
// to be taken.
func Kept(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, lanes.LogFile))
	return err == nil
}

// LockPath is the file that the existing tool locks while it writes a mission's
// lane log: in git's common folder, which all worktrees of a repository share. A
// project without git has it below .kittify. Its folder is made.
func LockPath(project, slug string) (string, error) {
	home, found, err := config.GitFolder(project)
	if err != nil {
		return "", err
	}
	if !found {
		home = filepath.Join(project, ".kittify")
	}
	dir := filepath.Join(home, locksFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the folder of the lane log's lock: %w", err)
	}
	return filepath.Join(dir, slug+".status.lock"), nil
}
