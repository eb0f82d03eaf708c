package config

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFindRoot is field case 49: one rule, the same root from each place.
func TestFindRoot(t *testing.T) {
	top := project(t, map[string]string{
		"p/" + FileName:                  "",
		"p/sub/deep/x":                   "",
		"p/.git/config":                  "[core]\n\tbare = false\n",
		"p/.git/worktrees/in/commondir":  "../..\n",
		"p/.git/worktrees/out/commondir": "../..\n",
		"p/.worktrees/in/.git":           "gitdir: ../../.git/worktrees/in\n",
		"p/.worktrees/in/" + FileName:    "# the branch's copy",
		"p/.worktrees/in/sub/deep/x":     "",
		// A worktree outside, whose branch does not have the file.
		"out/.git":  "gitdir: ../p/.git/worktrees/out\r\n",
		"out/sub/x": "",
		// A submodule and a repository of their own, within the project.
		"p/lib/.git":              "gitdir: ../.git/modules/lib\n",
		"p/lib/x":                 "",
		"p/.git/modules/lib/HEAD": "",
		"p/nested/.git/config":    "[core]\n",
		"p/nested/" + FileName:    "",
		"p/nested/x/y":            "",
		// The project is not the repository's top folder.
		"mono/.git/config":                "",
		"mono/.git/worktrees/w/commondir": "../..",
		"mono/shop/" + FileName:           "",
		"monow/.git":                      "gitdir: ../mono/.git/worktrees/w",
		"monow/shop/" + FileName:          "",
		"monow/shop/sub/x":                "",
		"monow/other/" + FileName:         "",
		// A bare repository has no main worktree: each is for itself.
		"bare.git/config":                "[core]\n\tbare = true\n",
		"bare.git/worktrees/w/commondir": "../..",
		"barew/.git":                     "gitdir: ../bare.git/worktrees/w",
		"barew/" + FileName:              "",
		// A worktree of a submodule: its repository lies elsewhere and says where it is.
		"super/.git/modules/m/config":                "[core]\n\tworktree = ../../../m\n",
		"super/.git/modules/m/worktrees/w/commondir": "../..",
		"super/m/.git":        "gitdir: ../.git/modules/m",
		"super/m/" + FileName: "",
		"subw/.git":           "gitdir: ../super/.git/modules/m/worktrees/w",
		"subw/" + FileName:    "",
		"none/x":              "",
		// A .git file that leads nowhere does not make a project of its own.
		"odd/.git":                        "gitdir:\n",
		"odd/" + FileName:                 "",
		"lost/.git":                       "gitdir: ../p/.git/worktrees/pruned\n",
		"lost/" + FileName:                "",
		"torn/.git":                       "gitdir: ../p/.git/worktrees/torn\n",
		"torn/" + FileName:                "",
		"p/.git/worktrees/torn/commondir": "../../../moved/.git\n",
	})
	if err := os.Symlink(filepath.Join(top, "p", "sub"), filepath.Join(top, "link")); err != nil {
		t.Skip(err)
	}
	for from, want := range map[string]string{
		"p": "p", "p/sub/deep": "p", "link/deep": "p", "p/.git": "p",
		"p/.worktrees/in": "p", "p/.worktrees/in/sub/deep": "p", "p/.worktrees": "p",
		"out": "p", "out/sub": "p",
		"p/lib": "p", "p/nested": "p/nested", "p/nested/x": "p/nested",
		"mono/shop": "mono/shop", "monow/shop/sub": "mono/shop", "monow/shop": "mono/shop",
		"barew": "barew", "super/m": "super/m", "subw": "super/m",
	} {
		got, err := FindRoot(filepath.Join(top, filepath.FromSlash(from)))
		if want := filepath.Join(top, filepath.FromSlash(want)); err != nil || got != want {
			t.Errorf("from %s: %s, %v; want %s", from, got, err, want)
		}
	}
	for from, want := range map[string]string{
		"none":        `project`,
		"mono":        `project`,
		"monow/other": "is a linked git worktree, and the project is that of the main one at " + filepath.Join(top, "mono"),
		"not-there":   `folder`,
		"odd":         "names no repository",
		"lost":        "git worktree repair",
		"torn":        filepath.Join("moved", ".git"),
	} {
		_, err := FindRoot(filepath.Join(top, filepath.FromSlash(from)))
		var missing *NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("from %s: %v; want %s", from, err, want)
		}
	}
}

// TestFindRootWithGit does it with worktrees that git itself made.
func TestFindRootWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	top := project(t, map[string]string{"p/" + FileName: "schema = 1\n", "p/sub/x": "x"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = filepath.Join(top, "p")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	git("worktree", "add", "-q", "-b", "one", ".worktrees/one")
	git("worktree", "add", "-q", "-b", "two", "../two")
	for _, from := range []string{"p", "p/sub", "p/.worktrees/one/sub", "two", "two/sub"} {
		got, err := FindRoot(filepath.Join(top, filepath.FromSlash(from)))
		if want := filepath.Join(top, "p"); err != nil || got != want {
			t.Errorf("from %s: %s, %v", from, got, err)
		}
	}
}

// Worktrees of a repository that has no main one are a project each, and Apart lists
// them; with a main one, or with one project, there is nothing to choose.
func TestApartWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	top := project(t, map[string]string{"p/sub/" + FileName: "schema = 1\n", "s/" + FileName: "schema = 1\n"})
	git := func(in string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = filepath.Join(top, in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	want := func(root string, projects ...string) {
		t.Helper()
		got, err := Apart(filepath.Join(top, filepath.FromSlash(root)))
		var all []string
		for _, p := range projects {
			all = append(all, filepath.Join(top, filepath.FromSlash(p)))
		}
		if err != nil || !slices.Equal(got, all) {
			t.Errorf("%s: %v %v, want %v", root, got, err, all)
		}
	}
	git("p", "init", "-q")
	git("p", "add", ".")
	git("p", "commit", "-q", "-m", "first")
	git("p", "worktree", "add", "-q", "-b", "linked", "../linked")
	git(".", "clone", "-q", "--bare", "p", "repo.git")
	want("p/sub")
	want("linked/sub")

	git("repo.git", "worktree", "add", "-q", "-b", "w1", "../w1", "main")
	want("w1/sub")
	git("repo.git", "worktree", "add", "-q", "-b", "own", "../w1/sub/state/loop", "main")
	want("w1/sub")
	git("repo.git", "worktree", "add", "-q", "-b", "w2", "../w2", "main")
	want("w1/sub", "w1/sub", "w2/sub")
	want("w2/sub", "w1/sub", "w2/sub")
	want("w1/sub/state/loop/sub", "w1/sub", "w2/sub")
	git("repo.git", "worktree", "remove", "--force", "../w2")
	want("w1/sub")

	git("s", "init", "-q", "--separate-git-dir", filepath.Join(top, "apart"))
	git("s", "add", ".")
	git("s", "commit", "-q", "-m", "first")
	git("s", "worktree", "add", "-q", "-b", "s1", "../s1")
	want("s")
	want("s1", "s1")
}
