package config

import (
	"os"
	"time"
)

// settled is how old a file's time must be for it to tell one content from
// another: some file systems count in steps of two seconds, and a change within
// one step leaves the time as it was.
const settled = 2 * time.Second

// Unchanged tells, by sizes and times alone, whether files still are what they
// were when they were read at readAt. False means that they must be read again
// to know; of no files nothing is known. It costs one stat for each file.
func (c *Config) Unchanged(files []File, readAt time.Time) bool {
	for _, f := range files {
		info, err := os.Stat(c.below(f.Path))
		if err != nil || info.Size() != f.Size || !info.ModTime().Equal(f.ModTime) || readAt.Sub(f.ModTime) < settled {
			return false
		}
	}
	return len(files) > 0
}
