package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Every public operation that writes, against a disk that fails or loses its
// power at any moment. The mission's files lie on the real disk; all that is ours
// lies on one in memory.

// bench is one operation, ready to be made again and again from the same state.
type bench struct {
	t     *testing.T
	op    operation
	root  string
	base  *durable.Mem // all of it durable
	make  func(p *Project) error
	given int // records of the operation's kind before it
}

func ready(t *testing.T, op operation) *bench {
	t.Helper()
	b := &bench{t: t, op: op, root: op.project(t)}
	d := durable.NewMem()
	p, err := Open(b.options(d))
	if err != nil {
		t.Fatal(err)
	}
	b.make = op.ready(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	b.base = d.Crash(512, durable.Everything)
	b.given = b.records(b.base)
	return b
}

// options put the state onto a disk, and artifacts too.
func (b *bench) options(d durable.Disk) Options {
	o := Options{Root: b.root, CacheDir: cacheDir(), Commit: commit.Options{Disk: d, Locks: locks.Local()}, Artifacts: d}
	if b.op.consent {
		o.Trust = consentOf(b.t, b.root)
	}
	return o
}

// on opens the project on a disk for one piece of work.
func (b *bench) on(d durable.Disk, work func(p *Project) error) error {
	b.t.Helper()
	p, err := Open(b.options(d))
	if err != nil {
		b.t.Fatal(err)
	}
	defer p.Close()
	return work(p)
}

// records counts the records of the operation's kind, in all runs.
func (b *bench) records(d durable.Disk) int {
	b.t.Helper()
	n := 0
	err := b.on(d, func(p *Project) error {
		list, err := p.runs.List(b.t.Context())
		if err != nil {
			return err
		}
		for _, entry := range list {
			if entry.Err != nil {
				return entry.Err
			}
			store, err := p.runs.Open(b.t.Context(), entry.ID)
			if err != nil {
				return err
			}
			err = store.Records(b.t.Context(), 1, func(r commit.Record[cursor.Event]) error {
				if r.Kind == b.op.kind {
					n++
				}
				return nil
			})
			store.Close()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatalf("the records cannot be read: %v", err)
	}
	return n
}

// sound wants a disk to hold the operation's record if it was acknowledged, and
// at most once; a caller that was told nothing makes it again. After it the run is
// sound, the next call works, and no temporary file is left.
func (b *bench) sound(d *durable.Mem, acked bool, what string) {
	b.t.Helper()
	n := b.records(d) - b.given
	if n > 1 || acked && n != 1 {
		b.t.Fatalf("%s: the record is there %d times, acknowledged %v", what, n, acked)
	}
	if n == 0 {
		if err := b.on(d, b.make); err != nil {
			b.t.Fatalf("%s: made again: %v", what, err)
		}
		b.goesOn(d.Crash(512, durable.Nothing), what+", made again, then the power failed")
	}
	b.goesOn(d, what)
}

// goesOn wants the record to be there once, a sound run, and the next call to
// work.
func (b *bench) goesOn(d *durable.Mem, what string) {
	b.t.Helper()
	err := b.on(d, func(p *Project) error {
		a, err := p.Next(b.t.Context(), report("next", cursor.Success))
		if err != nil {
			return fmt.Errorf("the next call: %w", err)
		}
		if a.RunID == nil {
			return errors.New("the next call found no run")
		}
		v, err := p.Verify(b.t.Context(), "m")
		if err != nil || !v.Sound {
			return fmt.Errorf("verify: %+v %w", v, err)
		}
		return nil
	})
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	if n := b.records(d) - b.given; n != 1 {
		b.t.Fatalf("%s: afterwards the record is there %d times", what, n)
	}
	if b.op.after != nil {
		if err := b.op.after(b.root, d); err != nil {
			b.t.Fatalf("%s: %v", what, err)
		}
	}
	b.clean(d, what)
}

// clean wants no temporary file to be left after recovery. That is the next
// writer's, or where the next call wrote nothing, an operator's. (A process that
// goes on with an error is a writer at work for as long as it lives: its own
// files are left to it.)
func (b *bench) clean(d durable.Disk, what string) {
	b.t.Helper()
	if len(temps(d, b.root)) == 0 {
		return
	}
	err := b.on(d, func(p *Project) error {
		_, err := p.Repair(b.t.Context(), "m")
		return err
	})
	if left := temps(d, b.root); err != nil || len(left) > 0 {
		b.t.Fatalf("%s: temporary files are left after a repair: %q %v", what, left, err)
	}
}

// temps lists the temporary files and private folders below a folder. A backup
// holds what was there before the repair, those too.
func temps(d durable.Disk, dir string) []string {
	entries, err := d.ReadDir(dir)
	if err != nil {
		return nil
	}
	var left []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case durable.IsTemp(e.Name()), strings.HasPrefix(e.Name(), ".new-"):
			left = append(left, path)
		case e.IsDir() && e.Name() != "backups":
			left = append(left, temps(d, path)...)
		}
	}
	return left
}

// P3: operation 0, 1, 2, … of the disk fails, once, until none is met. The process
// goes on, or the power fails too.
func TestSweepErrorsOfEveryOperation_P3(t *testing.T) {
	for i, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			b := ready(t, op)
			for n := i % b.stride(); ; n += b.stride() {
				d := b.base.Crash(512, durable.Everything)
				faulty := &durable.Faulty{Disk: d, Fail: durable.FailAt(n), Short: n % 40}
				acked := b.on(faulty, b.make) == nil
				b.sound(d.Crash(512, durable.Nothing), acked, fmt.Sprintf("operation %d failed, then the power", n))
				b.sound(d, acked, fmt.Sprintf("operation %d failed", n))
				if faulty.Count() <= n {
					manyMet(t, n)
					return
				}
			}
		})
	}
}

// P3: the power fails before operation 0, 1, 2, … and after the last one; none,
// all or some of what was not synced survives.
func TestSweepCrashesOfEveryOperation_P3(t *testing.T) {
	for i, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			b := ready(t, op)
			for kind, choose := range survivors() {
				n := (i + kind) % b.stride()
				for b.crash(n, kind, choose) {
					n += b.stride()
				}
				manyMet(t, n)
			}
		})
	}
}

// crash takes the power before operation n, and tells whether there was one.
func (b *bench) crash(n, kind int, choose func() (int, durable.Chooser)) bool {
	d := b.base.Crash(512, durable.Everything)
	var left *durable.Mem
	faulty := &durable.Faulty{Disk: d, Before: func(i int, _ durable.Op) {
		if i == n {
			left = d.Crash(choose())
		}
	}}
	err := b.on(faulty, b.make)
	if err != nil {
		b.t.Fatalf("nothing failed, and yet: %v", err)
	}
	if left == nil {
		b.sound(d.Crash(choose()), true, fmt.Sprintf("the power failed after the last operation, survival %d", kind))
		return false
	}
	b.sound(left, false, fmt.Sprintf("the power failed before operation %d, survival %d", n, kind))
	return true
}

// survivors are the ways in which a power failure goes.
func survivors() []func() (int, durable.Chooser) {
	all := []func() (int, durable.Chooser){
		func() (int, durable.Chooser) { return 512, durable.Nothing },
		func() (int, durable.Chooser) { return 512, durable.Everything },
	}
	seeds := 1
	if *torture {
		seeds = 9
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		all = append(all, func() (int, durable.Chooser) { return []int{64, 512, 1}[seed%3], rng.IntN })
	}
	return all
}

// P3: the last record is torn at each of its bytes, and the file keeps its length
// or not: the operation never was, or is whole.
func TestTornRecordOfEveryOperation_P3(t *testing.T) {
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			b := ready(t, op)
			done := b.base.Crash(512, durable.Everything)
			if err := b.on(done, b.make); err != nil {
				t.Fatal(err)
			}
			name, whole, before := b.grown(done)
			if name == "" {
				t.Skip("it makes a run of its own, which has no name before it is whole")
			}
			view, err := durable.ReadFile(b.base, filepath.Join(filepath.Dir(name), "state.json"), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for cut := before; cut <= len(whole); cut++ {
				if cut%(29*b.stride()-28) != 0 && cut < len(whole)-1 {
					continue
				}
				for _, length := range []int{cut, len(whole)} {
					d := done.Crash(512, durable.Everything) // with what was made before the record
					torn := append(bytes.Clone(whole[:cut]), make([]byte, length-cut)...)
					rewrite(t, d, name, torn)
					rewrite(t, d, filepath.Join(filepath.Dir(name), "state.json"), view)
					d = d.Crash(512, durable.Everything) // this is how the disk has it
					b.sound(d, cut == len(whole), fmt.Sprintf("%d of %d bytes of the record, %d of the file", cut-before, len(whole)-before, length-before))
				}
			}
		})
	}
}

// grown finds the journal that the operation appended to: its bytes after it, and
// its length before.
func (b *bench) grown(after durable.Disk) (name string, whole []byte, before int) {
	runs := filepath.Join(b.root, ".kittify", "step-runner", "runs")
	entries, err := b.base.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		file := filepath.Join(runs, e.Name(), "run.events.jsonl")
		old, err := durable.ReadFile(b.base, file, 1<<20)
		if err != nil {
			continue
		}
		now, err := durable.ReadFile(after, file, 1<<20)
		if err == nil && len(now) > len(old) {
			return file, now, len(old)
		}
	}
	return "", nil, 0
}

func rewrite(t *testing.T, d durable.Disk, path string, data []byte) {
	t.Helper()
	f, err := d.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(data, 0)
	if err := errors.Join(err, f.Truncate(int64(len(data))), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// stride is how many operations of the disk are passed over: none in a torture
// run.
func (b *bench) stride() int {
	switch {
	case *torture:
		return 1
	case testing.Short() || b.op.costly:
		return 31
	}
	return 7
}

func manyMet(t *testing.T, n int) {
	t.Helper()
	if n < 15 {
		t.Errorf("the sweep met only %d operations of the disk", n)
	}
}
