package tick

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Every verb that makes a record, against a disk that fails or loses its power at
// any moment. The project lies on the real disk, the loop's state on one in
// memory.

// swept is a verb, ready to be made from the same state again and again.
type swept struct {
	verb
	y     *yard
	base  *durable.Mem
	given int // records of its kind before it
}

func readyFor(t *testing.T, v verb) *swept {
	t.Helper()
	w := &swept{verb: v, y: newYard(t, commits, v.change...)}
	d := durable.NewMem()
	for _, step := range v.before {
		must(t, step(w.loops(d)))
	}
	w.base = d.Crash(512, durable.Everything)
	w.given = w.records(w.base, "before")
	return w
}

func (w *swept) loops(d durable.Disk) *Loops {
	return w.y.loops(func(o *Options) { o.Commit = commit.Options{Disk: d, Locks: locks.Local()} })
}

// records counts the records of the verb's kind; none where there is no loop.
func (w *swept) records(d durable.Disk, what string) int {
	w.y.t.Helper()
	n := 0
	err := w.loops(d).Log(context.Background(), "deps", 1, func(r commit.Record[loop.Event]) error {
		if r.Kind == w.kind {
			n++
		}
		return nil
	})
	if err != nil && !refusedAs(err, loop.Untracked) {
		w.y.t.Fatalf("%s: the records: %v", what, err)
	}
	return n - w.given
}

// sound wants the record once if it was acknowledged, at most once if not, and
// then made again; a sound store, and the next verb to work.
func (w *swept) sound(d *durable.Mem, acked bool, what string) {
	w.y.t.Helper()
	if n := w.records(d, what); n > 1 || acked && n != 1 {
		w.y.t.Fatalf("%s: the record is there %d times, acknowledged %v", what, n, acked)
	} else if n == 0 {
		if err := w.make(w.loops(d)); err != nil {
			w.y.t.Fatalf("%s: made again: %v", what, err)
		}
		d = d.Crash(512, durable.Nothing) // what the second call acknowledged stays too
	}
	l := w.loops(d)
	if _, err := l.Pause(context.Background(), PauseRequest{Loop: "deps", Who: "next", Reason: "r"}); err != nil && !errors.As(err, new(*loop.Refusal)) {
		w.y.t.Fatalf("%s: the next verb: %v", what, err)
	}
	if n := w.records(d, what); n != 1 && w.kind != "pause" {
		w.y.t.Fatalf("%s: afterwards the record is there %d times", what, n)
	}
	o, err := l.open(context.Background(), "deps")
	if err != nil {
		w.y.t.Fatalf("%s: %v", what, err)
	}
	defer o.close()
	if report, err := o.store.Verify(context.Background()); err != nil || len(report.Problems) > 0 {
		w.y.t.Fatalf("%s: %v %v", what, report.Problems, err)
	}
}

// P3: an error, or a power failure with none, all or some of what was not synced
// surviving, at operation 0, 1, 2, … of the disk.
func TestSweepOfEveryVerb_P3(t *testing.T) {
	stride := 5
	if *torture {
		stride = 1
	}
	if testing.Short() {
		stride = 17
	}
	rng := rand.New(rand.NewPCG(1, 9))
	survivals := []durable.Chooser{durable.Nothing, durable.Everything, rng.IntN}
	for i, v := range verbs() {
		t.Run(v.kind, func(t *testing.T) {
			t.Parallel()
			w := readyFor(t, v)
			for n := i % stride; ; n += stride {
				if !w.fail(n) {
					break
				}
			}
			for kind, choose := range survivals {
				for n := (i + kind) % stride; ; n += stride {
					if !w.crash(n, choose) {
						break
					}
				}
			}
		})
	}
}

// fail lets operation n fail, and tells whether there was one.
func (w *swept) fail(n int) bool {
	d := w.base.Crash(512, durable.Everything)
	faulty := &durable.Faulty{Disk: d, Fail: durable.FailAt(n), Short: n % 40}
	acked := w.make(w.loops(faulty)) == nil
	w.sound(d.Crash(512, durable.Nothing), acked, fmt.Sprintf("operation %d failed, then the power", n))
	w.sound(d, acked, fmt.Sprintf("operation %d failed", n))
	return faulty.Count() > n
}

// crash takes the power before operation n, and tells whether there was one.
func (w *swept) crash(n int, choose durable.Chooser) bool {
	d := w.base.Crash(512, durable.Everything)
	var left *durable.Mem
	faulty := &durable.Faulty{Disk: d, Before: func(i int, _ durable.Op) {
		if i == n {
			left = d.Crash(64, choose)
		}
	}}
	if err := w.make(w.loops(faulty)); err != nil {
		w.y.t.Fatalf("nothing failed, and yet: %v", err)
	}
	if left == nil {
		w.sound(d.Crash(512, durable.Nothing), true, "the power failed after the last operation")
		return false
	}
	w.sound(left, false, fmt.Sprintf("the power failed before operation %d", n))
	return true
}

// P3: the verb's record is torn at each of its bytes, and the file keeps its length
// or not: the verb never was, or is whole.
func TestTornRecordOfEveryVerb_P3(t *testing.T) {
	every := 37
	if *torture {
		every = 1
	}
	for _, v := range verbs() {
		if v.kind == "create" {
			continue // it has no name before it is whole
		}
		t.Run(v.kind, func(t *testing.T) {
			t.Parallel()
			w := readyFor(t, v)
			done := w.base.Crash(512, durable.Everything)
			if err := w.make(w.loops(done)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(w.y.root, ".state", "loops", "deps", JournalName)
			view := filepath.Join(filepath.Dir(name), "state.json")
			old, whole, before := w.bytes(w.base, view), w.bytes(done, name), len(w.bytes(w.base, name))
			for cut := before; cut <= len(whole); cut++ {
				if (cut-before)%every != 0 && cut < len(whole)-1 {
					continue
				}
				for _, length := range []int{cut, len(whole)} {
					d := done.Crash(512, durable.Everything)
					w.rewrite(d, name, append(bytes.Clone(whole[:cut]), make([]byte, length-cut)...))
					w.rewrite(d, view, old)
					w.sound(d.Crash(512, durable.Everything), cut == len(whole), fmt.Sprintf("%d of %d bytes of the record, %d of the file", cut-before, len(whole)-before, length-before))
				}
			}
		})
	}
}

func (w *swept) bytes(d durable.Disk, name string) []byte {
	w.y.t.Helper()
	data, err := durable.ReadFile(d, name, 1<<20)
	must(w.y.t, err)
	return data
}

func (w *swept) rewrite(d durable.Disk, name string, data []byte) {
	w.y.t.Helper()
	f, err := d.OpenFile(name, os.O_RDWR, 0)
	must(w.y.t, err)
	_, err = f.WriteAt(data, 0)
	must(w.y.t, err, f.Truncate(int64(len(data))), f.Close())
}
