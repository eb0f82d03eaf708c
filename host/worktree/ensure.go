package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// BusyError says that a folder cannot be the loop's worktree as things are.
type BusyError struct{ Path, Why string }

func (e *BusyError) Error() string { return e.Path + " cannot be used as a worktree: " + e.Why }

// listed is one worktree as git lists it.
type listed struct {
	path   string
	branch string // refs/heads/…; "" where it is detached
	locked bool
	reason string // why it is locked
}

func (r Repo) list(ctx context.Context) ([]listed, error) {
	out, err := r.git(ctx, r.Root, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []listed
	for block := range bytes.SplitSeq(out, []byte{0, 0}) {
		var one listed
		for field := range bytes.SplitSeq(block, []byte{0}) {
			key, value, _ := strings.Cut(string(field), " ")
			switch key {
			case "worktree":
				one.path = value
			case "branch":
				one.branch = value
			case "locked":
				one.locked, one.reason = true, value
			}
		}
		if one.path != "" {
			all = append(all, one)
		}
	}
	return all, nil
}

// find is the worktree at a path, by the folder that it is. A path of which a
// part is not there yet is compared as far as it is.
func (r Repo) find(ctx context.Context, path string) (one listed, ok bool, err error) {
	all, err := r.list(ctx)
	if err != nil {
		return one, false, err
	}
	want := settled(path)
	for _, one := range all {
		if settled(one.path) == want {
			return one, true, nil
		}
	}
	return one, false, nil
}

// settled is a path without links, as far as it is there.
func settled(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(settled(parent), filepath.Base(path))
	}
	return path
}

// Ensure makes the folder a worktree of the repository, detached at a commit, with
// exactly its files; ignored files stay unless pristine is set. What a broken
// attempt left is repaired for this one path: a registration whose folder is gone, a
// folder that is half filled, and git's own locks in what is the worktree's alone.
// *BusyError where somebody else's things lie there, or somebody locked it. The caller
// owns the folder, and no process of an earlier attempt is alive in it.
func (r Repo) Ensure(ctx context.Context, path, commit string, pristine bool) error {
	if err := r.ensure(ctx, path, commit, pristine); err != nil {
		return err
	}
	return unmark(path)
}

func (r Repo) ensure(ctx context.Context, path, commit string, pristine bool) error {
	if err := straight(path); err != nil {
		return err
	}
	one, known, err := r.find(ctx, path)
	if err != nil {
		return err
	}
	if known && one.locked && one.reason != "initializing" {
		return &BusyError{path, "it is locked: " + one.reason}
	}
	if known && !one.locked && whole(path) {
		err := r.reset(ctx, path, commit, pristine)
		if !errors.Is(err, errHalfDone) && !broken(err) {
			return err
		}
	}
	if known {
		return r.anew(ctx, path, commit, one.locked)
	}
	if err := r.vacate(ctx, path); err != nil {
		return err
	}
	return r.add(ctx, path, commit)
}

// straight refuses a place, or the folder that it is in, that is a link: what is made
// and cleaned there would lie where the link leads.
func straight(path string) error {
	for _, one := range []string{filepath.Dir(path), path} {
		if info, err := os.Lstat(one); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &BusyError{path, one + " is a link: put a folder in its place, or take it away"}
		}
	}
	return nil
}

// ignored makes the folder that worktrees lie in, and keeps git from taking them in
// as part of the project. A folder that is there is somebody's, and stays as it is.
func ignored(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644)
}

// whole tells whether a folder has the file that leads to its repository.
func whole(path string) bool {
	info, err := os.Lstat(filepath.Join(path, ".git"))
	return err == nil && info.Mode().IsRegular()
}

// broken tells whether a reset failed because the folder is no worktree any more.
func broken(err error) bool {
	failed := new(GitError)
	return errors.As(err, &failed) && strings.Contains(failed.Stderr, "not a git repository")
}

// free refuses a path under which something lies.
func free(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &BusyError{path, err.Error()}
	case len(entries) > 0:
		return &BusyError{path, fmt.Sprintf("there are files in it (%s) and git does not list it as a worktree: move it away", entries[0].Name())}
	}
	return nil
}

// anew makes a registered worktree once more: its folder is gone, or half made.
func (r Repo) anew(ctx context.Context, path, commit string, locked bool) error {
	if locked {
		if _, err := r.git(ctx, r.Root, "worktree", "unlock", path); err != nil {
			return err
		}
	}
	_, err := r.change(ctx, r.Root, "worktree", "remove", "--force", path)
	switch failed := new(GitError); {
	case err == nil:
	case !errors.As(err, &failed) || failed.Exit <= 0:
		return err // git did not say so: it was not let begin, or was ended
	default:
		// Git does not remove what is not whole. That it lists the path makes the
		// folder ours all the same.
		if err := os.RemoveAll(path); err != nil {
			return &BusyError{path, err.Error()}
		}
	}
	return r.add(ctx, path, commit, "--force")
}

// reset brings a worktree to a commit.
func (r Repo) reset(ctx context.Context, path, commit string, pristine bool) error {
	if err := r.tidy(ctx, path); err != nil {
		return err
	}
	clean := []string{"clean", "-ffdq"}
	if pristine {
		clean[1] = "-ffdxq"
	}
	for _, args := range [][]string{{"checkout", "--detach", "--force", "--quiet", commit}, {"reset", "--hard", "--quiet", commit}, clean} {
		if _, err := r.change(ctx, path, args...); err != nil {
			return err
		}
	}
	if !pristine {
		return nil
	}
	return r.complete(ctx, path)
}

// complete refuses an index in which files are marked to be left as they are: a
// reset passes them by. It is made anew then.
func (r Repo) complete(ctx context.Context, path string) error {
	out, err := r.git(ctx, path, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) > 0 && (entry[0] == 'S' || entry[0] >= 'a' && entry[0] <= 'z') {
			return errHalfDone
		}
	}
	return nil
}

// errHalfDone says that a reset would not do: a rebase or the like was begun in the
// worktree and not ended, or files in it are marked to be passed by.
var errHalfDone = errors.New("something was begun in the worktree and not ended")

// tidy removes the locks that a git of an earlier run left in what the worktree has
// for itself.
func (r Repo) tidy(ctx context.Context, path string) error {
	out, err := r.git(ctx, path, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	if err := unlockAll(line(out)); err != nil {
		return err
	}
	for _, begun := range []string{"rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG"} {
		if _, err := os.Lstat(filepath.Join(line(out), begun)); err == nil {
			return errHalfDone
		}
	}
	return nil
}

// Head is the commit that a worktree is at; *BusyError where the folder is gone or
// is no worktree of its own any more. It never looks at the repository above it.
func (r Repo) Head(ctx context.Context, path string) (Commit, error) {
	if !whole(path) {
		return Commit{}, &BusyError{path, "it is no worktree any more"}
	}
	return r.resolve(ctx, path, "HEAD")
}

// Uncommitted are the files, and new folders, of a worktree that are in no commit.
func (r Repo) Uncommitted(ctx context.Context, path string) ([]string, error) {
	out, err := r.git(ctx, path, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal")
	var files []string
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) > 3 { // two letters and a space before the name
			files = append(files, string(entry[3:]))
		}
	}
	return files, err
}

// Remove removes a worktree with what is in it. One that is not there is removed.
func (r Repo) Remove(ctx context.Context, path string) error {
	if err := r.remove(ctx, path); err != nil {
		return err
	}
	return unmark(path)
}

func (r Repo) remove(ctx context.Context, path string) error {
	one, known, err := r.find(ctx, path)
	switch {
	case err != nil:
		return err
	case !known:
		return r.vacate(ctx, path)
	case one.locked && one.reason != "initializing":
		return &BusyError{path, "it is locked: " + one.reason}
	case one.locked:
		if _, err := r.git(ctx, r.Root, "worktree", "unlock", path); err != nil {
			return err
		}
	}
	if _, err := r.git(ctx, r.Root, "worktree", "remove", "--force", path); err != nil {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		_, err = r.git(ctx, r.Root, "worktree", "remove", "--force", path)
		return err
	}
	return nil
}
