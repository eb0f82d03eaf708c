package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Apart lists the projects of which one has to be named, for a project root that
// lies in a linked git worktree whose repository has no main worktree: it is bare,
// or its folder lies apart from the checkout. Each of its worktrees is a project
// with a state of its own, and they would hand out the same work. The list is
// sorted, holds root unless that is the worktree of a loop in another one, and is nil
// where there is nothing to choose. Git itself is not
// needed.
func Apart(root string) ([]string, error) {
	top, info, err := gitEntry(root)
	if err != nil || info == nil || info.IsDir() {
		return nil, err
	}
	_, common, err := gitFile(top)
	if err != nil || common == "" {
		return nil, err
	}
	if main, err := mainWorktree(common); err != nil || main != "" {
		return nil, err
	}
	bare, err := isBare(common)
	if err != nil {
		return nil, err
	}
	all, err := otherProjects(common, top, root)
	if err != nil || bare && len(all) == 0 {
		return nil, err
	}
	all = append(all, root) // a checkout that is not bare is there too, and git does not say where
	slices.Sort(all)
	return outermost(all), nil
}

// outermost leaves out of sorted projects those within others: worktrees of loops.
func outermost(all []string) []string {
	var out []string
	for _, p := range all {
		if len(out) == 0 || !below(p, out[len(out)-1]) {
			out = append(out, p)
		}
	}
	return out
}

// otherProjects are those in the other linked worktrees of a repository, at the
// place that root has in the worktree top. Worktrees within top, such as those of
// loops, are the project's own.
func otherProjects(common, top, root string) (projects []string, err error) {
	within, err := filepath.Rel(top, root)
	if err != nil {
		return nil, fmt.Errorf("project root: %w", err)
	}
	known := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(known)
	if err != nil {
		return nil, fmt.Errorf("git worktree: %w", err)
	}
	for _, e := range entries {
		link := filepath.Join(known, e.Name(), "gitdir")
		file, ok, err := pathIn(link, "", filepath.Dir(link))
		if err != nil {
			return nil, err
		}
		other, err := filepath.EvalSymlinks(filepath.Dir(file))
		if !ok || err != nil || below(other, top) {
			continue // removed, or this one
		}
		project := filepath.Join(other, within)
		if info, err := os.Stat(filepath.Join(project, FileName)); err == nil && !info.IsDir() {
			projects = append(projects, project)
		}
	}
	return projects, nil
}
