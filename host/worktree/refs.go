package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Commit is a commit and its tree, as 40 or 64 hexadecimal digits.
type Commit struct{ ID, Tree string }

// NotFoundError says that a name leads to no commit.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no branch or commit %q in this repository", e.Name)
}

// MovedError says that a branch was not where it was expected to be; it was left
// where it is.
type MovedError struct{ Branch, Want, Have string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("branch %s is at %s, not at %s: somebody moved it", e.Branch, short(e.Have), short(e.Want))
}

// CheckedOutError says that a branch is checked out somewhere, where moving it
// would make the files there look changed.
type CheckedOutError struct{ Branch, Path string }

func (e *CheckedOutError) Error() string {
	return fmt.Sprintf("branch %s is checked out in %s", e.Branch, e.Path)
}

func short(id string) string {
	if id == "" || id == NoCommit {
		return "no commit"
	}
	return id[:min(len(id), 12)]
}

// Resolve gives the commit that a branch, tag or id leads to; *NotFoundError
// where there is none.
func (r Repo) Resolve(ctx context.Context, name string) (Commit, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return Commit{}, &NotFoundError{name}
	}
	return r.resolve(ctx, r.Root, name)
}

func (r Repo) resolve(ctx context.Context, dir, name string) (Commit, error) {
	out, err := r.git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if failed := new(GitError); errors.As(err, &failed) && failed.Exit == 1 {
		return Commit{}, &NotFoundError{name}
	}
	if err != nil {
		return Commit{}, err
	}
	tree, err := r.git(ctx, dir, "rev-parse", "--verify", "--quiet", line(out)+"^{tree}")
	return Commit{ID: line(out), Tree: line(tree)}, err
}

// Branch gives the commit of a branch; *NotFoundError where there is none.
func (r Repo) Branch(ctx context.Context, branch string) (Commit, error) {
	c, err := r.resolve(ctx, r.Root, branchRef(branch))
	if errors.As(err, new(*NotFoundError)) {
		err = &NotFoundError{branch}
	}
	return c, err
}

func branchRef(branch string) string { return "refs/heads/" + branch }

// CheckBranch refuses what git does not take as the name of a branch.
func (r Repo) CheckBranch(ctx context.Context, branch string) error {
	_, err := r.git(ctx, r.Root, "check-ref-format", "--branch", branch)
	if failed := new(GitError); errors.As(err, &failed) && failed.Exit > 0 {
		return fmt.Errorf("%q is no name for a branch", branch)
	}
	return err
}

// Descends tells whether a commit has another one among its ancestors, or is it.
func (r Repo) Descends(ctx context.Context, commit, from string) (bool, error) {
	_, err := r.git(ctx, r.Root, "merge-base", "--is-ancestor", from, commit)
	if failed := new(GitError); errors.As(err, &failed) && failed.Exit == 1 {
		return false, nil
	}
	return err == nil, err
}

// Land moves a branch from one commit to another, old being NoCommit where it is
// still to be made, by git's own compare-and-swap. That it is there already is
// success: a move whose answer was lost is made once more. *MovedError where it
// is neither, *CheckedOutError where it is checked out, *LockedError where its lock is held. The move is durable on
// return; *UnsyncedError where it is made and that cannot be said.
func (r Repo) Land(ctx context.Context, branch, old, to, reason string) error {
	if err := r.MayLand(ctx, branch); err != nil {
		return err
	}
	if err := r.Unlock(ctx, branch); err != nil {
		return err
	}
	was := old
	if old == NoCommit {
		was = "" // git's zeros are as long as its ids, of which there are two kinds
	}
	_, failed := r.git(ctx, r.Root, append(lastingRefs(), "update-ref", "-m", reason, "--create-reflog", branchRef(branch), to, was)...)
	if failed == nil {
		return r.refLasts(branchRef(branch))
	}
	have, err := r.Branch(ctx, branch)
	switch {
	case errors.As(err, new(*NotFoundError)):
		have.ID = NoCommit
	case err != nil:
		return errors.Join(failed, err)
	}
	switch have.ID {
	case to:
		return r.refLasts(branchRef(branch))
	case old:
		return failed // the swap itself was refused: a hook, a lock file, a full disk
	}
	return &MovedError{Branch: branch, Want: old, Have: have.ID}
}

// runRefs is where the results of a loop's runs are kept from being collected. Projects
// that share a repository may have loops of one name: one below the top has a place of
// its own.
func (r Repo) runRefs(loop string) string {
	at := ""
	if place := r.Place(); place != "" {
		sum := sha256.Sum256([]byte(place))
		at = "at-" + hex.EncodeToString(sum[:6]) + "/"
	}
	return "refs/spec-kitty/" + at + "loops/" + loop + "/"
}

func (r Repo) runRef(loop string, token uint64) string {
	return r.runRefs(loop) + strconv.FormatUint(token, 10)
}

// Keep keeps the result commit of a run under a ref of its own, durably, with all that
// it has and the commit that the run began at has not. Keeping it again changes nothing.
func (r Repo) Keep(ctx context.Context, loop string, token uint64, commit, base string) error {
	if err := r.objectsLast(ctx, commit, base); err != nil {
		return err
	}
	if err := r.unlock(ctx, r.runRef(loop, token)); err != nil {
		return err
	}
	if _, err := r.git(ctx, r.Root, append(lastingRefs(), "update-ref", r.runRef(loop, token), commit)...); err != nil {
		return err
	}
	return r.refLasts(r.runRef(loop, token))
}

// Kept is a result that is kept.
type Kept struct {
	Token  uint64
	Commit string
}

// Kept lists the results that are kept for a loop, oldest first; with a branch,
// those that it does not have.
func (r Repo) Kept(ctx context.Context, loop, without string) ([]Kept, error) {
	args := []string{"for-each-ref", "--format=%(refname) %(objectname)"}
	if without != "" {
		if _, err := r.Branch(ctx, without); err == nil {
			args = append(args, "--no-merged="+branchRef(without))
		} else if !errors.As(err, new(*NotFoundError)) {
			return nil, err
		}
	}
	out, err := r.git(ctx, r.Root, append(args, r.runRefs(loop))...)
	if err != nil {
		return nil, err
	}
	var all []Kept
	for one := range strings.Lines(string(out)) {
		name, commit, _ := strings.Cut(strings.TrimSpace(one), " ")
		if token, err := strconv.ParseUint(strings.TrimPrefix(name, r.runRefs(loop)), 10, 64); err == nil {
			all = append(all, Kept{token, commit})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Token < all[j].Token })
	return all, nil
}

// Drop lets the result of a run be collected.
func (r Repo) Drop(ctx context.Context, loop string, token uint64) error {
	if err := r.unlock(ctx, r.runRef(loop, token)); err != nil {
		return err
	}
	_, err := r.git(ctx, r.Root, "update-ref", "-d", r.runRef(loop, token))
	return err
}

// Changed lists the files that differ between two commits, sorted.
func (r Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.git(ctx, r.Root, "diff-tree", "-r", "--no-commit-id", "--name-only", "--no-renames", "-z", from, to)
	if err != nil {
		return nil, err
	}
	files := strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
	sort.Strings(files)
	return files, nil
}

// Title is a commit as people name it: the beginning of its id and its first line.
func (r Repo) Title(ctx context.Context, commit string) (string, error) {
	out, err := r.git(ctx, r.Root, "log", "-1", "--no-color", "--no-show-signature", "--format=%h %s", "--end-of-options", commit)
	return line(out), err
}

// Diff is the difference between two commits as people read it.
func (r Repo) Diff(ctx context.Context, from, to string) (string, error) {
	out, err := r.git(ctx, r.Root, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch", from, to)
	return string(out), err
}

// MayLand refuses a branch that is checked out somewhere, *CheckedOutError, but for
// the caller's own folders.
func (r Repo) MayLand(ctx context.Context, branch string) error {
	all, err := r.list(ctx)
	for _, one := range all { // git lets several have one branch, if told to
		own := func(folder string) bool { return settled(folder) == settled(one.path) }
		if one.branch == branchRef(branch) && !slices.ContainsFunc(r.Own, own) {
			return &CheckedOutError{branch, one.path}
		}
	}
	return err
}
