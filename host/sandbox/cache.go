package sandbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/own"
	"github.com/spec-kitty/step-runner/plugins/abi"
)

// A cache entry is machine code that runs unchecked, so the cache belongs to
// one user: a folder of mode 0700, ours, no link, outside every project. Each
// module has a folder in it, by the module's digest, below one that names all
// that made the code. No error of the cache ever fails a call: without a usable
// cache guests are interpreted, or compiled where they need it.
type cache struct {
	dir string // of this build; "" where there is none
}

// openCache decides where the cache is, makes its folder where that is missing,
// and decides whether it may be used.
func openCache(o Options) cache {
	if root := cacheRoot(o); root != "" && os.MkdirAll(root, 0o700) != nil {
		return cache{}
	}
	return findCache(o)
}

// findCache is openCache for who only looks: a folder that is missing is left so.
func findCache(o Options) cache {
	root := cacheRoot(o)
	if root == "" || !private(root) || inside(root, o.Project) {
		return cache{}
	}
	return cache{dir: filepath.Join(root, buildName())}
}

// cacheRoot is the absolute path of the cache; "" where there is to be none.
func cacheRoot(o Options) string {
	root := o.CacheDir
	switch root {
	case "-":
		return ""
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		root = filepath.Join(user, "spec-kitty", "plugins")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return ""
	}
	return root
}

// private tells whether there is a folder that is ours alone.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && own.Alone(info)
}

// inside tells whether a folder lies in a project, links followed.
func inside(dir, project string) bool {
	if project == "" {
		return false
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return false
	}
	rel, err := filepath.Rel(project, dir)
	return err == nil && filepath.IsLocal(rel)
}

// buildName names what made the code: other wazero, Go or ABI versions must
// never run it.
func buildName() string {
	name := fmt.Sprintf("abi%d-wazero-%s-%s-%s-%s", abi.Version, wazeroVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// wazeroVersion is what wazero itself calls its version, which is in the name
// of the folder it writes to: the one of go.mod, "dev" in a test binary.
var wazeroVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" && dep.Version != "" && dep.Version != "(devel)" {
			return dep.Version
		}
	}
	return "dev"
})

// entry is the cache's folder of one module.
type entry struct {
	dir  string // "" where there is no cache
	hint string // a file that says a filler is at work, or failed lately
}

// hintMark ends the name of an entry's hint.
const hintMark = ".filling"

func (c cache) entry(sum string) entry {
	if c.dir == "" {
		return entry{}
	}
	dir := filepath.Join(c.dir, sum)
	return entry{dir: dir, hint: dir + hintMark}
}

func (e entry) codeDir() string {
	return filepath.Join(e.dir, "wazero-"+wazeroVersion()+"-"+runtime.GOARCH+"-"+runtime.GOOS)
}

// warm tells whether there is code.
func (e entry) warm() bool {
	if e.dir == "" {
		return false
	}
	names, err := os.ReadDir(e.codeDir())
	if err != nil {
		return false
	}
	for _, n := range names {
		if _, err := hex.DecodeString(n.Name()); err == nil && len(n.Name()) == 64 {
			return true
		}
	}
	return false
}

// drop removes code that did not work. An error leaves it: then the next call
// finds it bad again, and runs all the same.
func (e entry) drop() { _ = os.RemoveAll(e.dir) }

// retryFill is how long a filler that gave nothing keeps the next one away: a
// module that is too complex to compile would otherwise cost a minute of
// processor time with each call.
const retryFill = 10 * time.Minute

// claim tells whether to start a filler now. The hint file only saves work: two
// fillers at once do no harm, since code appears by rename.
func (e entry) claim(now time.Time) bool {
	if e.dir == "" || os.MkdirAll(filepath.Dir(e.dir), 0o700) != nil {
		return false
	}
	for range 2 {
		f, err := os.OpenFile(e.hint, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return f.Close() == nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return false
		}
		info, err := os.Stat(e.hint)
		if err != nil || now.Sub(info.ModTime()) < retryFill {
			return false
		}
		_ = os.Remove(e.hint)
	}
	return false
}

// sweep removes what fillers that were killed left half-written.
func (e entry) sweep(now time.Time) {
	left, _ := filepath.Glob(filepath.Join(e.codeDir(), "*.tmp"))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > 2*fillTime {
			_ = os.Remove(name)
		}
	}
}
