package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// worktree is a linked git worktree and the main one of the same repository.
type worktree struct{ top, main string }

// LinkedWorktree tells whether a folder lies in a linked git worktree, whose
// project is that of the main one at main. It follows links and needs no git.
func LinkedWorktree(dir string) (main string, linked bool, err error) {
	if dir, err = realPath(dir); err != nil {
		return "", false, err
	}
	tree, err := worktreeOf(dir)
	if err != nil || tree == nil {
		return "", false, err
	}
	return tree.main, true, nil
}

// worktreeOf is the linked worktree that a folder lies in; nil where the folder
// lies in none, or in one of a repository that has no main worktree.
//
// A linked worktree's .git is a file that names its own folder in the
// repository, and that folder's commondir names the repository. A submodule's
// .git is such a file too, but its folder has no commondir.
func worktreeOf(dir string) (*worktree, error) {
	top := dir
	for {
		info, err := os.Lstat(filepath.Join(top, ".git"))
		switch {
		case err == nil && info.Mode().IsRegular():
			return linkedWorktree(top)
		case err == nil:
			return nil, nil
		case !absent(err):
			return nil, fmt.Errorf("git worktree: %w", err)
		}
		parent := filepath.Dir(top)
		if parent == top {
			return nil, nil
		}
		top = parent
	}
}

func linkedWorktree(top string) (*worktree, error) {
	gitDir, ok, err := pathIn(filepath.Join(top, ".git"), "gitdir: ", top)
	if err != nil || !ok {
		return nil, err
	}
	common, ok, err := pathIn(filepath.Join(gitDir, "commondir"), "", gitDir)
	if err != nil || !ok {
		return nil, err
	}
	main, err := mainWorktree(common)
	if err != nil || main == "" {
		return nil, err
	}
	return &worktree{top: top, main: main}, nil
}

// pathIn reads a file that holds one path, relative to base.
func pathIn(file, prefix, base string) (path string, ok bool, err error) {
	data, err := readFile(file, 64<<10)
	switch {
	case err != nil && absent(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("git worktree: %w", err)
	}
	path, ok = strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" {
		return "", false, nil
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), true, nil
}

// mainWorktree is the main worktree of a repository: the folder around .git, or
// what core.worktree says, as in a submodule. A bare repository has none.
func mainWorktree(common string) (string, error) {
	data, err := readFile(filepath.Join(common, "config"), maxConfig)
	if err != nil && !absent(err) {
		return "", fmt.Errorf("git worktree: %w", err)
	}
	settings := coreSettings(string(data))
	main := filepath.Dir(common)
	switch {
	case settings["worktree"] != "":
		main = filepath.FromSlash(settings["worktree"])
		if !filepath.IsAbs(main) {
			main = filepath.Join(common, main)
		}
	case settings["bare"] == "true" || filepath.Base(common) != ".git":
		return "", nil
	}
	real, err := filepath.EvalSymlinks(main)
	if err != nil && absent(err) {
		return "", nil
	}
	return real, err
}

// coreSettings reads the [core] section of a git configuration, as far as git
// itself writes it: one setting a line.
func coreSettings(text string) map[string]string {
	settings, in := map[string]string{}, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = strings.EqualFold(line, "[core]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); in && ok {
			settings[strings.ToLower(strings.TrimSpace(key))] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return settings
}

// notFolder is the error for a path that goes through a file.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
