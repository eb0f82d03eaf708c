package config

import (
	"fmt"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/bundle"
)

// OutsideError says that a path which the configuration has below the project's
// root leads out of it by a link.
type OutsideError struct{ Path, To string } // absolute

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s leads out of the project, to %s, by a link: put what it leads to into the project", e.Path, e.To)
}

// CheckInside is an *OutsideError where an absolute path below the root leads out
// of it by a link. Links that stay inside are no error, nor is a path that is not
// there, or not below the root.
func (c *Config) CheckInside(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || below(real, c.Root) || !below(path, c.Root) {
		return nil // who opens it says why it cannot be
	}
	if root, err := filepath.EvalSymlinks(c.Root); err != nil || below(real, root) {
		return nil
	}
	return &OutsideError{Path: path, To: real}
}

// PackOwn packs a plugin's own folder as it is now: what `plugin pin` pins and a
// run freezes. An *OutsideError where it leads out of the project: what is pinned
// there may be anybody's secrets.
func (c *Config) PackOwn(p Plugin) ([]byte, error) {
	dir := c.OwnDir(p)
	if err := c.CheckInside(dir); err != nil {
		return nil, err
	}
	return bundle.PackFolder(dir)
}
