package commit_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// P3: what is acknowledged lies in a folder of the root whose name is durable, also
// where that folder was removed by somebody, or made by a process that died before it
// synced the name.
func TestFoldersOfTheRootAreDurable_P3(t *testing.T) {
	for name, before := range map[string]func(d *durable.Mem) error{
		"removed": func(d *durable.Mem) error {
			return errors.Join(d.RemoveAll("/state/runs"), d.RemoveAll("/state/loops"))
		},
		"made by one who died": func(d *durable.Mem) error {
			return errors.Join(d.RemoveAll("/state/runs"), d.RemoveAll("/state/loops"), d.SyncDir("/state"),
				d.Mkdir("/state/runs", 0o755), d.Mkdir("/state/loops", 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := func() *durable.Mem {
				mem := durable.NewMem()
				committest.Start(t, catalog(mem), "a", 1)
				create(t, foldersOn(mem), "deps", 2)
				must(t, before(mem))
				return mem
			}
			mem := fresh()
			must(t, startAgain(t, catalog(mem), "a", 3))
			if s := lookup(t, catalog(mem.Crash(512, durable.Nothing)), "a"); s.ID() != committest.ID(3) {
				t.Errorf("the run is %s", s.ID())
			}
			mem = fresh()
			create(t, foldersOn(mem), "deps", 4)
			if s, err := foldersOn(mem.Crash(512, durable.Nothing)).Open(t.Context(), "deps"); err != nil || s.ID() != committest.ID(4) {
				t.Errorf("the store: %v", err)
			}
		})
	}
}

// P3: a run whose name may not last takes no commit where the name cannot be made
// durable, whatever keeps it from that: here the index lock is none.
func TestNoIndexLock_P3(t *testing.T) {
	mem := durable.NewMem()
	committest.Start(t, catalog(mem), "a", 1)
	var left *durable.Mem
	dies := &durable.Faulty{Disk: mem, Before: func(_ int, op durable.Op) {
		if op.Kind == "syncdir" && filepath.Base(op.Path) == "runs" && left == nil {
			if _, err := mem.Stat(runFile(memRoot, 2, "")); err == nil { // renamed
				left = mem.Crash(512, durable.Everything)
			}
		}
	}}
	committest.Start(t, catalog(dies), "b", 2)
	free, bad := locks.Local(), locks.At(t.TempDir())
	cat := catalog(left, func(o *commit.Options) {
		o.Locks = func(path string) *locks.Lock {
			if filepath.Base(path) == "index.lock" {
				return bad
			}
			return free(path)
		}
	})
	out, err := lookup(t, cat, "b").Commit(t.Context(), add("t1"))
	if !errors.As(err, new(*commit.DamagedError)) || out.Committed {
		t.Errorf("%+v, %v", out, err)
	}
	committest.MustCommit(t, lookup(t, catalog(left), "b"), add("t1"))
	if got := tokens(t, lookup(t, catalog(left.Crash(512, durable.Nothing)), "b")); len(got) != 1 {
		t.Errorf("after the power failed: %v", got)
	}
}
