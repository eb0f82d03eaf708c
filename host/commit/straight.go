package commit

import (
	"io/fs"
	"path/filepath"
)

// What lies below the root is ours and no link: through one, records and prompts
// would be written wherever somebody who can change the project wants them. The
// root itself may be a link, as to another disk: that is a person's own choice.
// Files are opened without following links (durable.Disk, locks.At); folders are
// looked at before anything is opened in them. Somebody who swaps a folder for a
// link between that look and the open can write to the state as it is.

// straight refuses a run whose folder is a link, or lies in one below the root.
func (s *run[S, F, E]) straight() error {
	root := filepath.Clean(s.root)
	for dir := s.dir; len(dir) > len(root); dir = filepath.Dir(dir) {
		if err := s.noLink(dir); err != nil {
			return err
		}
	}
	return nil
}

// noLink is damage where dir is a link. That it is missing, or cannot be looked
// at, is for whoever opens it to say.
func (c *core[S, F, E]) noLink(dir string) error {
	info, err := c.opts.Disk.Lstat(dir)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return &DamagedError{File: dir, Why: "it is a link, not a folder, and nothing is read or written through it", Fix: "put the folder itself there"}
}
