package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/kernel/durable"
)

// Git makes a worktree in several processes. Ended in between, it can leave a folder
// with files that it knows nothing of any more:
//
//	caller          its git                              a child of git
//	dies
//	                is told so, takes the folder and
//	                its registration back, ends
//	                                                     goes on to write files
//
// Such a folder looks like somebody else's. So a mark lies beside it from before the
// addition, when there was nothing at the place, until it is a worktree: what comes to
// lie there meanwhile is what we had begun.

// begunMark is the file that marks a place. It holds the commit that was to come there.
func begunMark(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".begun")
}

// Begun tells whether a worktree was begun at a path and is not known to be whole:
// Ensure and Remove take such a folder over.
func Begun(path string) bool {
	info, err := os.Lstat(begunMark(path))
	return err == nil && info.Mode().IsRegular()
}

// add has git make a worktree where nothing lies. The mark is durable before git is
// started.
func (r Repo) add(ctx context.Context, path, commit string, more ...string) error {
	if err := ignored(filepath.Dir(path)); err != nil {
		return err
	}
	if err := durable.Replace(r.disk(), begunMark(path), []byte(commit+"\n"), 0o644); err != nil {
		return fmt.Errorf("mark that a worktree is begun: %w", err)
	}
	_, err := r.change(ctx, r.Root, slices.Concat([]string{"worktree", "add", "--detach"}, more, []string{path, commit})...)
	return err
}

// unmark says that a place is no longer one where something was begun.
func unmark(path string) error {
	if err := os.Remove(begunMark(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// vacate sees to it that nothing lies at a place that git does not list. What an
// addition of ours left there goes; where anything else lies with it, that may be
// somebody's, and all of it is moved aside.
func (r Repo) vacate(ctx context.Context, path string) error {
	busy := free(path)
	if busy == nil || !Begun(path) {
		return busy
	}
	if r.checkedOut(ctx, path) {
		if err := os.RemoveAll(path); err != nil {
			return &BusyError{path, err.Error()}
		}
		return nil
	}
	return r.setAside(path)
}

// checkedOut tells whether all files in a folder are ones of the commit that its mark
// names: then git wrote them.
func (r Repo) checkedOut(ctx context.Context, path string) bool {
	raw, err := durable.ReadFile(r.disk(), begunMark(path), 128)
	if err != nil || !isID(strings.TrimSpace(string(raw))) {
		return false
	}
	out, err := r.git(ctx, r.Root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", strings.TrimSpace(string(raw)))
	if err != nil {
		return false
	}
	files := map[string]bool{".git": true}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		files[string(name)] = true
	}
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if inside, err := filepath.Rel(path, at); err != nil || !files[filepath.ToSlash(inside)] {
			return fs.ErrExist
		}
		return nil
	})
	return err == nil
}

// setAside gives what lies at a path another name beside it.
func (r Repo) setAside(path string) error {
	for n := 1; ; n++ {
		to := filepath.Join(filepath.Dir(path), fmt.Sprintf("set-aside-%s-%d", filepath.Base(path), n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(path, to); err != nil {
			return &BusyError{path, err.Error()}
		}
		if r.SetAside != nil {
			r.SetAside(to)
		}
		return nil
	}
}
