package sandbox

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Compiled is the machine code that one build of the program keeps for one module.
type Compiled struct {
	Build  string    // what made the code: ABI, wazero, Go, system, processor
	SHA256 string    // of the module
	Bytes  int64     // on disk
	Used   time.Time // the last call with it, within an hour
	dir    string
}

// Collected is what Collect found: all of the cache, in two parts, each with the
// code that was used last first.
type Collected struct {
	Dir           string // the cache, of all builds; "" where there is none yet
	Kept, Dropped []Compiled
}

// Collect drops code that was not used for longest, until what is left of it has
// at most a number of bytes. Code of this build for a module in keep is neither
// dropped nor counted; that of other builds is only worth its place by its use.
// With dry it drops nothing. Code that a call is loading just then may go, too: the
// call does without it. A cache that others could write to is an error, and so is
// a file that cannot be removed: then some of Dropped may be left.
func (h *Host) Collect(keep map[string]bool, bytes int64, dry bool) (Collected, error) {
	root := cacheRoot(h.opts)
	if _, err := os.Lstat(root); root == "" || os.IsNotExist(err) {
		return Collected{}, nil
	}
	c := findCache(h.opts)
	if c.dir == "" {
		return Collected{}, fmt.Errorf("%s is no folder of yours alone outside of the project, so that plugins do without it and nothing in it is touched: let it be one of mode 0700", root)
	}
	out := Collected{Dir: root}
	codes := codesIn(root)
	slices.SortFunc(codes, func(a, b Compiled) int { return b.Used.Compare(a.Used) })
	for _, code := range codes {
		pinned := keep[code.SHA256] && code.Build == filepath.Base(c.dir)
		if pinned || code.Bytes > 0 && code.Bytes <= bytes {
			out.Kept = append(out.Kept, code)
		} else {
			out.Dropped = append(out.Dropped, code)
		}
		if !pinned {
			// The first that does not fit ends it: a smaller one behind it was used less.
			bytes -= min(code.Bytes, bytes+1)
		}
	}
	if dry {
		return out, nil
	}
	return out, dropAll(root, out.Dropped)
}

// dropAll removes code, leftovers of fillers that died, and folders of builds
// that are empty then.
func dropAll(root string, codes []Compiled) error {
	for _, code := range codes {
		if err := os.RemoveAll(code.dir); err != nil {
			return fmt.Errorf("the code of module %s cannot be removed: %w", code.SHA256, err)
		}
	}
	for _, build := range buildsIn(root) {
		sweepBuild(filepath.Join(root, build), time.Now())
	}
	return nil
}

// sweepBuild removes what nothing will ever use of a build's folder: hints, and
// modules copied for fillers, that are older than any filler.
func sweepBuild(dir string, now time.Time) {
	names, _ := os.ReadDir(dir)
	for _, name := range names {
		ours := strings.HasSuffix(name.Name(), hintMark) || strings.HasPrefix(name.Name(), "module-")
		info, err := name.Info()
		if ours && err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > retryFill {
			_ = os.Remove(filepath.Join(dir, name.Name()))
		}
	}
	_ = os.Remove(dir) // fails where anything is left
}

// buildsIn are the folders of the cache, by the names that buildName gives.
func buildsIn(root string) (builds []string) {
	names, _ := os.ReadDir(root)
	for _, name := range names {
		if name.IsDir() && strings.HasPrefix(name.Name(), "abi") && strings.Contains(name.Name(), "-wazero-") {
			builds = append(builds, name.Name())
		}
	}
	return builds
}

// filling tells whether a filler may be writing to an entry.
func filling(dir string) bool {
	info, err := os.Stat(dir + hintMark)
	return err == nil && time.Since(info.ModTime()) < retryFill
}

// codesIn lists what the cache keeps. What does not look like ours is passed over,
// and what is just being made.
func codesIn(root string) (codes []Compiled) {
	for _, build := range buildsIn(root) {
		names, _ := os.ReadDir(filepath.Join(root, build))
		for _, name := range names {
			dir := filepath.Join(root, build, name.Name())
			sum, err := hex.DecodeString(name.Name())
			info, gone := name.Info()
			if err != nil || len(sum) != 32 || !name.IsDir() || gone != nil || filling(dir) {
				continue
			}
			codes = append(codes, Compiled{Build: build, SHA256: name.Name(), Bytes: sizeOf(dir), Used: info.ModTime(), dir: dir})
		}
	}
	return codes
}

// sizeOf adds up a folder's files; what goes meanwhile counts nothing.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// useGrain is how exact the time of the last use is: a call that follows another
// within it writes nothing.
const useGrain = time.Hour

// used notes that a call has use for the code. A time that cannot be set makes
// the code look older than it is.
func (e entry) used(now time.Time) {
	if info, err := os.Stat(e.dir); err == nil && now.Sub(info.ModTime()) > useGrain {
		_ = os.Chtimes(e.dir, time.Time{}, now)
	}
}
