package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

// maxLinks is how many links one path may pass, as on Linux.
const maxLinks = 40

// view is one mount as a guest may see it: what is granted below a folder, and
// the folders that lead there. Names are relative to it, with slashes. It
// resolves links by itself, so that what a link leads to is judged like a name
// that was asked for; os.Root stands behind it against whoever changes the
// folder meanwhile.
type view struct {
	unchangeable
	root   *os.Root
	guest  string   // where the guest sees it
	grants []string // granted names; "." is all
	hidden []string
	over   overlay
	desk   *desk
}

// openView opens a mount. Grants and hidden names are guest paths; those below
// other mounts are left out.
func openView(m Mount, grants, hidden []string, d *desk) (*view, error) {
	root, err := openMount(m)
	if err != nil {
		return nil, err
	}
	v := &view{root: root, guest: m.Guest, hidden: below(m.Guest, hidden), over: m.Staged, desk: d}
	granted := below(m.Guest, grants)
	v.grants = []string{"."} // while the grants themselves are resolved
	for _, g := range granted {
		if real, _, errno := v.resolve(g, true); errno == 0 && real != g {
			granted = append(granted, real)
		}
	}
	v.grants = granted
	return v, nil
}

// openMount opens the folder of a mount. Host may be a link, as a project may be
// reached by one; what lies below it is the project's content, and a link there
// would show the guest what nobody granted.
func openMount(m Mount) (*os.Root, error) {
	root, err := os.OpenRoot(m.Host)
	if err != nil || m.Below == "" {
		return root, err
	}
	defer root.Close()
	return readonly.Enter(root, m.Below)
}

// below gives those guest paths that lie in a mount, relative to it.
func below(mount string, paths []string) []string {
	var names []string
	for _, p := range paths {
		p = path.Clean(p)
		if p == mount {
			names = append(names, ".")
		} else if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(mount, "/")+"/"); ok {
			names = append(names, rest)
		}
	}
	return names
}

func within(name, folder string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// granted tells whether the content at name may be seen.
func (v *view) granted(name string) bool {
	for _, g := range v.grants {
		if within(name, g) {
			return !v.isHidden(name)
		}
	}
	return false
}

// leads tells whether name is a folder on the way to a grant.
func (v *view) leads(name string) bool {
	if name == "." {
		return true
	}
	for _, g := range v.grants {
		if g != "." && within(g, name) {
			return !v.isHidden(name)
		}
	}
	return false
}

func (v *view) isHidden(name string) bool {
	for _, h := range v.hidden {
		if within(strings.ToLower(name), strings.ToLower(h)) {
			return true
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") || unsafeName(part) {
			return true
		}
	}
	return false
}

// resolve follows the links in name, the last one only if told so, and gives
// the name without links and what is there. It never opens anything.
func (v *view) resolve(name string, followLast bool) (string, fs.FileInfo, sys.Errno) {
	w := walk{view: v, at: ".", rest: strings.Split(name, "/"), followLast: followLast}
	for len(w.rest) > 0 {
		if errno := w.step(); errno != 0 {
			return "", nil, errno
		}
	}
	if w.info == nil {
		if w.info, w.err = v.lstat(w.at); w.err != nil {
			return "", nil, errnoOf(w.err)
		}
	}
	if !w.info.IsDir() && !v.granted(w.at) {
		return "", nil, sys.ENOENT // a file where a folder on the way should be
	}
	return w.at, w.info, 0
}

// walk is a path being resolved: at is done, rest is to do.
type walk struct {
	view       *view
	at         string
	info       fs.FileInfo // at, or nil where it is to be looked up
	rest       []string
	links      int
	followLast bool
	err        error
}

func (w *walk) step() sys.Errno {
	part := w.rest[0]
	w.rest = w.rest[1:]
	switch part {
	case "", ".":
		return w.mustBeDir()
	case "..":
		if w.at == "." {
			return sys.EPERM
		}
		w.at, w.info = path.Dir(w.at), nil
		return 0
	}
	if errno := w.mustBeDir(); errno != 0 {
		return errno
	}
	return w.enter(path.Join(w.at, part))
}

func (w *walk) mustBeDir() sys.Errno {
	if w.info != nil && !w.info.IsDir() {
		return sys.ENOTDIR
	}
	return 0
}

func (w *walk) enter(name string) sys.Errno {
	if !w.view.granted(name) && !w.view.leads(name) {
		if w.links > 0 {
			return sys.EPERM // a link out of what is granted, whatever is there
		}
		return sys.ENOENT
	}
	info, err := w.view.lstat(name)
	if err != nil {
		return errnoOf(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 && (w.followLast || len(w.rest) > 0) {
		return w.follow(name)
	}
	w.at, w.info = name, info
	return 0
}

func (w *walk) follow(name string) sys.Errno {
	if w.links++; w.links > maxLinks {
		return sys.ELOOP
	}
	target, errno := w.view.target(name)
	if errno != 0 {
		return errno
	}
	w.rest = append(strings.Split(target, "/"), w.rest...)
	return 0
}

// target reads a link; an absolute one leads out by definition.
func (v *view) target(name string) (string, sys.Errno) {
	target, err := v.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return "", errnoOf(err)
	}
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" || strings.HasPrefix(target, "/") {
		return "", sys.EPERM
	}
	return filepath.ToSlash(target), 0
}

// errnoOf translates an error of the host's file system. A path that os.Root
// takes as leading out has no number of its own.
func errnoOf(err error) sys.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, fs.ErrNotExist):
		return sys.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return sys.EACCES
	case errors.Is(err, fs.ErrInvalid):
		return sys.EINVAL
	}
	if errno := sys.UnwrapOSError(err); errno != sys.EIO {
		return errno
	}
	return sys.EPERM
}
