package worktree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/host/internal/proc"
)

// Unlocks tells whether it can be told here that no git is at work in a repository.
const Unlocks = true

// gitAt says which git of this machine is, or may be, at work in one of the folders; ""
// for none.
func gitAt(folders []string) string {
	for _, pid := range proc.All(func([]string) bool { return true }) {
		at := filepath.Join("/proc", strconv.Itoa(pid))
		name, err := os.ReadFile(filepath.Join(at, "comm"))
		if name := string(bytes.TrimSpace(name)); err != nil || name != "git" && !strings.HasPrefix(name, "git-") {
			continue
		}
		switch in, told := gitPlaces(at); {
		case told && !meet(in, folders):
		case !proc.Live(proc.Stat(pid)): // it ended meanwhile
		case told:
			return fmt.Sprintf("git process %d is at work in this repository", pid)
		default:
			return fmt.Sprintf("where git process %d is at work cannot be told: it is another user's", pid)
		}
	}
	return ""
}

// gitPlaces are the folder that a git is in, and the repository that it was sent to.
func gitPlaces(at string) (places []string, told bool) {
	dir, err := os.Readlink(filepath.Join(at, "cwd"))
	if err != nil {
		return nil, false
	}
	places = []string{dir}
	words, err := os.ReadFile(filepath.Join(at, "cmdline"))
	if err != nil {
		return nil, false
	}
	env, err := os.ReadFile(filepath.Join(at, "environ"))
	if err != nil {
		return nil, false
	}
	next := false
	for word := range strings.SplitSeq(string(words)+"\x00"+string(env), "\x00") {
		for _, prefix := range []string{"--git-dir=", "GIT_DIR=", "GIT_COMMON_DIR="} {
			if sent, ok := strings.CutPrefix(word, prefix); ok {
				places = append(places, settled(under(dir, sent)))
			}
		}
		if next {
			places = append(places, settled(under(dir, word)))
		}
		next = word == "--git-dir"
	}
	return places, true
}

// meet tells whether one of the places lies in one of the folders.
func meet(places, folders []string) bool {
	for _, place := range places {
		for _, folder := range folders {
			if inside, err := filepath.Rel(folder, place); err == nil && filepath.IsLocal(inside) {
				return true
			}
		}
	}
	return false
}
