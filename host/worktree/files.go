package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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
	return r.refFile(r.runRef(loop, token))
}

// NewestKept is the newest token of which a result is kept for a loop; 0 for none.
func (r Repo) NewestKept(loop string) (uint64, error) {
	dir, err := r.common()
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(filepath.Join(dir, "reftable")); err == nil {
		return 0, ErrNotTold
	}
	prefix := r.runRefs(loop)
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(prefix)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	newest := uint64(0)
	for _, e := range entries {
		newest = max(newest, tokenIn(e.Name()))
	}
	err = eachPacked(filepath.Join(dir, "packed-refs"), func(_, name string) bool {
		if token, ok := strings.CutPrefix(name, prefix); ok {
			newest = max(newest, tokenIn(token))
		}
		return true
	})
	return newest, err
}

func tokenIn(name string) uint64 {
	token, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return 0
	}
	return token
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
	found := ""
	err := eachPacked(file, func(id, name string) bool {
		if name == ref {
			found = id
		}
		return found == ""
	})
	return found, err
}

// eachPacked visits the refs in that file, for as long as visit says so. One that is
// not there has none.
func eachPacked(file string, visit func(id, name string) bool) error {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && isID(id) && !visit(id, name) {
			return nil
		}
	}
	return lines.Err()
}

func isID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// common is git's folder that all worktrees share.
func (r Repo) common() (string, error) {
	top, err := r.top()
	if err != nil {
		return "", err
	}
	git := filepath.Join(top, ".git")
	if isFolder(git) {
		return git, nil
	}
	raw, err := os.ReadFile(git)
	if errors.Is(err, fs.ErrNotExist) {
		return top, nil // bare
	}
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir: ")
	if !ok {
		return "", ErrNotTold
	}
	dir = under(top, dir)
	if raw, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		return under(dir, strings.TrimSpace(string(raw))), nil
	}
	return dir, nil
}

// top is the folder of the checkout that the root lies in, or the bare repository.
func (r Repo) top() (string, error) {
	for dir := r.Root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || bare(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s lies in no git repository", r.Root)
		}
	}
}

// bare tells whether a folder is a repository itself.
func bare(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if !isFolder(filepath.Join(dir, name)) {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// Place is where the root lies in its checkout, with slashes; "" at the top, in a bare
// repository and where there is none. It reads no more than names of files.
func (r Repo) Place() string {
	top, err := r.top()
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(top, r.Root)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
