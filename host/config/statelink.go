package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// findState follows a link on the way to the state root, once, so that whoever reads
// an answer can be told. why is a sentence where the state may not lie there: in
// another folder of the project it would be what the name of the state root keeps
// missions, and plugins that may read or write that folder, away from.
func (c *Config) findState() (why string) {
	at, link := c.StateRoot(), c.firstLink(c.StateRoot())
	if !below(at, c.Root) {
		return c.findOutside(at)
	}
	if link == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) { // the state is yet to be made behind the link
		if real, err = filepath.EvalSymlinks(link); err == nil {
			real = filepath.Join(real, strings.TrimPrefix(at, link))
		}
	}
	switch root, rootErr := filepath.EvalSymlinks(c.Root); {
	case err != nil:
		return fmt.Sprintf("%s is a link that leads nowhere: make the folder that it names, or take the link away", link)
	case rootErr == nil && (below(real, root) || below(root, real)):
		return fmt.Sprintf("%s leads, by a link, to %s, which is in the project already: take the link away, or name that folder", at, real)
	}
	c.StateLink = real
	return ""
}

// findOutside judges an absolute state root that does not lie in the project by its
// name. One that holds the project would have its .gitignore hide it; one that lies
// in it by a link is the missions' and the grants' as well.
func (c *Config) findOutside(at string) (why string) {
	root, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return "" // whoever reads the project is told
	}
	real := realWay(at)
	switch {
	case below(root, real):
		return fmt.Sprintf("%s is the project's own folder, or one above it, which the state's .gitignore would hide: name a folder below the project, or one elsewhere", at)
	case below(real, root):
		inside, _ := filepath.Rel(root, real)
		return fmt.Sprintf("%s leads, by a link, to a folder of the project: write %q", at, filepath.ToSlash(inside))
	}
	return ""
}

// realWay follows the links on the way to a path, as far as it is there.
func realWay(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// firstLink is the first link on the way from the project's root to a path below it;
// "" where there is none.
func (c *Config) firstLink(path string) string {
	rel, err := filepath.Rel(c.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "" // elsewhere, as the configuration says
	}
	var ends []string
	for at := path; at != c.Root; at = filepath.Dir(at) {
		ends = append(ends, at)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		info, err := os.Lstat(ends[i])
		switch {
		case err != nil:
			return "" // it is not there yet
		case info.Mode()&fs.ModeSymlink != 0:
			return ends[i]
		}
	}
	return ""
}
