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

// GitFolder is the folder of the repository that a folder lies in, the one that
// all its worktrees share; found is false where it lies in none.
func GitFolder(dir string) (folder string, found bool, err error) {
	if dir, err = realPath(dir); err != nil {
		return "", false, err
	}
	top, info, err := gitEntry(dir)
	switch {
	case err != nil || info == nil:
		return "", false, err
	case info.IsDir():
		return filepath.Join(top, ".git"), true, nil
	}
	own, common, err := gitFile(top)
	if common == "" {
		common = own // a submodule's
	}
	return common, err == nil, err
}

// worktreeOf is the linked worktree that a folder lies in; nil where the folder
// lies in none, or in one of a repository that has no main worktree.
//
// A linked worktree's .git is a file that names its own folder in the
// repository, and that folder's commondir names the repository. A submodule's
// .git is such a file too, but its folder has no commondir.
func worktreeOf(dir string) (*worktree, error) {
	top, info, err := gitEntry(dir)
	if err != nil || info == nil || info.IsDir() {
		return nil, err
	}
	_, common, err := gitFile(top)
	if err != nil || common == "" {
		return nil, err
	}
	main, err := mainWorktree(common)
	if err != nil || main == "" {
		return nil, err
	}
	return &worktree{top: top, main: main}, nil
}

// gitEntry is the nearest folder upwards that has a .git, and what that is; nil
// where none has one.
func gitEntry(dir string) (top string, info os.FileInfo, err error) {
	for top = dir; ; top = filepath.Dir(top) {
		info, err = os.Stat(filepath.Join(top, ".git"))
		switch {
		case err == nil && (info.IsDir() || info.Mode().IsRegular()):
			return top, info, nil
		case err != nil && !absent(err):
			return "", nil, fmt.Errorf("git worktree: %w", err)
		case filepath.Dir(top) == top:
			return "", nil, nil
		}
	}
}

// gitFile reads a .git that is a file: the folder that it names, and the common
// one of the repository that this names, "" where it names none. A file that
// leads nowhere is an error: a worktree whose repository is gone would pass for a
// project of its own, with a state of its own.
func gitFile(top string) (own, common string, err error) {
	file := filepath.Join(top, ".git")
	own, ok, err := pathIn(file, "gitdir: ", top)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "", "", &NotFoundError{What: "git repository", Name: file, Fix: "the file names no repository: mend it or take it away"}
	}
	if _, err := os.Stat(own); err != nil {
		return "", "", &NotFoundError{What: "git repository", Name: own, Fix: file + " names it: run `git worktree repair` in the main worktree, or take the file away"}
	}
	common, ok, err = pathIn(filepath.Join(own, "commondir"), "", own)
	if !ok || err != nil {
		return own, "", err
	}
	if _, err := os.Stat(common); err != nil {
		return "", "", &NotFoundError{What: "git repository", Name: common, Fix: filepath.Join(own, "commondir") + " names it: bring the repository back, or take " + file + " away"}
	}
	return own, common, nil
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
	settings, err := settingsOf(common)
	if err != nil {
		return "", err
	}
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

// isBare tells whether a repository says of itself that it has no checkout of its
// own.
func isBare(common string) (bool, error) {
	settings, err := settingsOf(common)
	return settings["bare"] == "true", err
}

// settingsOf are the core settings of a repository.
func settingsOf(common string) (map[string]string, error) {
	data, err := readFile(filepath.Join(common, "config"), maxConfig)
	if err != nil && !absent(err) {
		return nil, fmt.Errorf("git worktree: %w", err)
	}
	return coreSettings(string(data)), nil
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
