package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What is read here is read from git's files, without calling git: it runs nothing
// and is quick, so it may be asked while a lock is held.

// ErrNotTold says that git's files do not tell where a ref is: it is symbolic, or
// the repository keeps its refs in another way than files.
var ErrNotTold = errors.New("git's files do not tell where the ref is")

// Tip is the commit of a branch; "" where there is no such branch.
func (r Repo) Tip(branch string) (string, error) { return r.refFile(branchRef(branch)) }

// KeptAt is the commit that is kept for a run; "" for none.
func (r Repo) KeptAt(loop string, token uint64) (string, error) {
	return r.refFile(runRef(loop, token))
}

func (r Repo) refFile(ref string) (string, error) {
	dir, err := r.common()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "reftable")); err == nil {
		return "", ErrNotTold
	}
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref)))
	switch id := strings.TrimSpace(string(raw)); {
	case err == nil && isID(id):
		return id, nil
	case err == nil:
		return "", ErrNotTold
	case !errors.Is(err, fs.ErrNotExist) && !isFolder(filepath.Join(dir, filepath.FromSlash(ref))):
		return "", err
	}
	return packed(filepath.Join(dir, "packed-refs"), ref)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// packed looks a ref up in the file that git packs refs into.
func packed(file, ref string) (string, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref && isID(id) {
			return id, nil
		}
	}
	return "", lines.Err()
}

func isID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// common is git's folder that all worktrees share.
func (r Repo) common() (string, error) {
	git := filepath.Join(r.Root, ".git")
	if isFolder(git) {
		return git, nil
	}
	raw, err := os.ReadFile(git)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir: ")
	if !ok {
		return "", ErrNotTold
	}
	dir = under(r.Root, dir)
	if raw, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		return under(dir, strings.TrimSpace(string(raw))), nil
	}
	return dir, nil
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
