package lanes

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/host/internal/readonly"
)

const (
	packageLimit = 4 << 20
	// racy is how young a file's last change may be for its time to be no proof:
	// clocks of file systems are coarse, and a second change within one tick
	// leaves size and time as they were.
	racy = 2 * time.Second
)

// Reader reads the packages of one mission, again and again: a file whose name,
// size, time and identity did not change is not read a second time, one that
// changed a moment ago is read but parsed only if its bytes differ. It may be
// used by any number of goroutines.
type Reader struct {
	dir string

	mu    sync.Mutex
	files map[string]*cached // by file name; guarded by mu
}

type cached struct {
	info fs.FileInfo
	read time.Time // before the bytes were read
	sum  [sha256.Size]byte
	pkg  Package
	err  error
}

// NewReader reads the packages in the mission's folder dir. It opens nothing.
func NewReader(dir string) *Reader {
	return &Reader{dir: dir, files: map[string]*cached{}}
}

// Packages reads what lies in tasks/ now, in file order: by name, with numbers
// in names compared as numbers. A mission without tasks/ has none. Faults of all
// files come back at once, joined; most are *FileError.
func (r *Reader) Packages() ([]Package, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tasks, err := r.tasks()
	if tasks == nil || err != nil {
		return nil, err
	}
	defer tasks.Close()
	names, err := packageFiles(tasks)
	if err != nil {
		return nil, r.unreadable(err)
	}
	all, err := r.load(tasks, names)
	if err != nil {
		return nil, err
	}
	if err := Check(all); err != nil {
		return nil, err
	}
	return all, nil
}

// tasks opens the folder of packages; nil where it is not there. A root of its
// own spares opening the folder anew for each of its files.
func (r *Reader) tasks() (*os.Root, error) {
	root, err := readonly.Folder(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, r.unreadable(err)
	}
	defer root.Close()
	tasks, err := readonly.FolderIn(root, TasksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, r.unreadable(err)
	}
	return tasks, nil
}

func (r *Reader) unreadable(err error) error {
	return &FileError{Path: filepath.Join(r.dir, TasksFolder), Why: err.Error(), Err: err}
}

// packageFiles lists WP*.md in file order.
func packageFiles(tasks *os.Root) ([]string, error) {
	folder, err := tasks.Open(".")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	all, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if strings.HasPrefix(name, "WP") && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, naturally)
	return names, nil
}

func (r *Reader) load(tasks *os.Root, names []string) ([]Package, error) {
	var faults []error
	all := make([]Package, 0, len(names))
	kept := make(map[string]*cached, len(names))
	for _, name := range names {
		c, err := r.file(tasks, name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		kept[name] = c
		if c.err != nil {
			faults = append(faults, c.err)
			continue
		}
		all = append(all, c.pkg)
	}
	r.files = kept
	return all, errors.Join(faults...)
}

func (r *Reader) file(tasks *os.Root, name string) (*cached, error) {
	old := r.files[name]
	if old != nil && old.settled() {
		if info, err := tasks.Lstat(name); err == nil && old.same(info) {
			return old, nil
		}
	}
	path := filepath.Join(r.dir, TasksFolder, name)
	start := time.Now()
	data, info, err := readonly.File(tasks, name, packageLimit)
	if err != nil {
		return nil, &FileError{Path: path, Why: err.Error(), Err: err}
	}
	c := &cached{info: info, read: start, sum: sha256.Sum256(data)}
	if old != nil && old.sum == c.sum {
		c.pkg, c.err = old.pkg, old.err
		return c, nil
	}
	c.pkg, c.err = Parse(path, data)
	return c, nil
}

// settled tells whether the file's last change was long enough before it was
// read that a further change must show in its time.
func (c *cached) settled() bool { return c.read.Sub(c.info.ModTime()) > racy }

func (c *cached) same(info fs.FileInfo) bool {
	return info.Size() == c.info.Size() && info.ModTime().Equal(c.info.ModTime()) && os.SameFile(info, c.info)
}

// naturally orders names with their numbers as numbers: WP9 before WP10.
func naturally(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		na, nb := digitsOf(a), digitsOf(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func digitsOf(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}
