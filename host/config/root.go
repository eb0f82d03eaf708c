package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FindRoot is the project root for a call from the folder dir: the nearest
// folder upwards that holds FileName. From a linked git worktree it is the
// project root in the main worktree, so that all worktrees of a repository
// share one configuration, one set of missions and one state; of a repository
// without a main worktree see Apart. Symbolic links
// are followed first, so that one project has one root. Without a project the
// error is a *NotFoundError. Git itself is not needed.
func FindRoot(dir string) (string, error) {
	dir, err := realPath(dir)
	if err != nil {
		return "", err
	}
	found, err := upwards(dir)
	if err != nil {
		return "", err
	}
	from := dir
	if found != "" {
		from = found
	}
	// The caller's worktree counts, also where its checkout lacks the file; a
	// project found above the worktree may itself lie in another one.
	for _, start := range []string{dir, from} {
		root, linked, err := inMainWorktree(start, found)
		if err != nil || linked {
			return root, err
		}
	}
	if found == "" {
		return "", projectNotFound(dir)
	}
	return found, nil
}

func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("project root: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &NotFoundError{What: "folder", Name: dir, Fix: "name one that is there with --root"}
	case err != nil:
		return "", fmt.Errorf("project root: %w", err)
	}
	return real, nil
}

// upwards is the nearest folder from dir on that holds FileName; empty where
// none does.
func upwards(dir string) (string, error) {
	for {
		info, err := os.Stat(filepath.Join(dir, FileName))
		switch {
		case err == nil && !info.IsDir():
			return dir, nil
		case err != nil && !absent(err):
			return "", fmt.Errorf("project root: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// inMainWorktree is the project root in the main worktree, if start lies in a
// linked one. linked is false where it does not, or where found lies above the
// worktree and the main worktree has no project of its own.
func inMainWorktree(start, found string) (root string, linked bool, err error) {
	tree, err := worktreeOf(start)
	if err != nil || tree == nil {
		return "", false, err
	}
	within, err := filepath.Rel(tree.top, start)
	if err != nil {
		return "", false, fmt.Errorf("project root: %w", err)
	}
	at := filepath.Join(tree.main, within)
	if found != "" && below(found, tree.top) {
		within, err = filepath.Rel(tree.top, found)
		if err != nil {
			return "", false, fmt.Errorf("project root: %w", err)
		}
		at = filepath.Join(tree.main, within)
		if root, err = upwards(at); err != nil || root == at {
			return root, err == nil, err
		}
		return "", false, tree.lacks(at)
	}
	root, err = upwards(at)
	return root, root != "", err
}

func (w *worktree) lacks(at string) error {
	return &NotFoundError{What: "project", Name: filepath.Join(at, FileName),
		Fix: fmt.Sprintf("%s is a linked git worktree, and the project is that of the main one at %s: bring the file there, or name a folder with --root", w.top, w.main)}
}

// below tells whether a path is a folder or lies in it; both are clean.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notFolder(err)
}
