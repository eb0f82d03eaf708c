package commit

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// core is what a catalog in files and its runs share.
type core[S, F, E any] struct {
	machine Machine[S, E]
	outside Outside[S, F, E] // nil: no facts
	opts    Options
	root    string
	mount   func() string // kind of a shared mount, "" on a local one
}

func newCore[S, F, E any](root string, m Machine[S, E], outside Outside[S, F, E], o Options) *core[S, F, E] {
	real := o.Disk == nil
	c := &core[S, F, E]{machine: m, outside: outside, opts: o.withDefaults(), root: root}
	c.mount = sync.OnceValue(func() string {
		if !real {
			return ""
		}
		return durable.Shared(root)
	})
	return c
}

// Files is a Catalog in a folder:
//
//	.gitignore          *
//	owner.json          whose it is; only with Options.Owner
//	index.lock          held while a run is started
//	index/SLUG          names the slug's run; a view of the journals
//	index/.roster       what each run is about; a view of the journals
//	runs/ID/            one run: journal, state.json, state.json.lock, frozen
//	                    files, successor.json once another run followed, and
//	                    its lock once one did or a finished run was opened again
//	backups/ID.NAME/    what a run was before it was mended
type Files[S, F, E any] struct {
	*core[S, F, E]
	lock *locks.Lock // of the index
}

var _ Catalog[int, int, int] = (*Files[int, int, int])(nil)

// NewFiles gives the catalog in the folder root. It touches nothing; the first
// start makes the folder. outside may be nil where transitions need no facts.
func NewFiles[S, F, E any](root string, m Machine[S, E], outside Outside[S, F, E], o Options) *Files[S, F, E] {
	c := newCore(root, m, outside, o)
	return &Files[S, F, E]{core: c, lock: c.opts.Locks(filepath.Join(root, indexLockName))}
}

func (c *core[S, F, E]) runDir(id string) string {
	return filepath.Join(c.root, runsName, id)
}

// shared is the warning that belongs into every answer on a shared mount.
func (c *core[S, F, E]) shared() []Warning {
	kind := c.mount()
	if kind == "" {
		return nil
	}
	return []Warning{{Code: WarnNetworkMount, Message: fmt.Sprintf(
		"%s lies on a %s mount, where locks and syncs may not hold: keep the state on a local disk", c.root, kind)}}
}
