package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CacheState is how the compilation cache stands.
type CacheState struct {
	Dir    string // of this build; "" where there is none
	Unmade bool   // the folder is not there yet; the first call makes it
	Codes  int    // modules that code is kept for
	Bytes  int64  // of that code
	Cached map[string]bool
}

// CacheState looks at the cache, and tells for each SHA-256 whether code is kept
// for it. It makes no folder: one that is not there yet is empty. A cache that
// cannot be used only makes calls slower.
func (h *Host) CacheState(sums []string) CacheState {
	out := CacheState{Cached: map[string]bool{}}
	_, err := os.Stat(cacheRoot(h.opts))
	out.Unmade = errors.Is(err, fs.ErrNotExist)
	c := findCache(h.opts)
	out.Dir = c.dir
	for _, sum := range sums {
		out.Cached[sum] = c.entry(sum).warm()
	}
	if c.dir == "" {
		return out
	}
	for _, code := range codesIn(filepath.Dir(c.dir)) {
		if code.Build == filepath.Base(c.dir) {
			out.Codes++
			out.Bytes += code.Bytes
		}
	}
	return out
}
