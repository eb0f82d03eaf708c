package tick

import (
	"context"
	"fmt"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// removed is a retired loop, to be removed on copies of one disk.
type removed struct {
	y     *yard
	base  *durable.Mem
	again bool // whether the newest one that was cut short is made again
}

func (r *removed) loops(d durable.Disk) *Loops {
	return r.y.loops(func(o *Options) { o.Commit = commit.Options{Disk: d, Locks: locks.Local()} })
}

func (r *removed) remove(d durable.Disk) error {
	_, err := r.loops(d).Remove(context.Background(), "deps", "kim", false)
	return err
}

// gone wants a loop whose removal was acknowledged never to come back, and one
// that was not to be whole or gone; the removal can be made again, and the name be
// used again.
func (r *removed) gone(d *durable.Mem, acked bool, what string) {
	r.y.t.Helper()
	s, err := r.loops(d).Status(context.Background(), "deps")
	switch {
	case err == nil && s.Status == string(loop.StatusRetired) && !acked:
		if err := r.remove(d); err != nil {
			r.y.t.Fatalf("%s: removed again: %v", what, err)
		}
	case err == nil && s.Status == string(loop.StatusUntracked), refusedAs(err, loop.Untracked):
		if r.again = !r.again; r.again {
			break // the creation finishes it
		}
		if err := r.remove(d); err != nil && !refusedAs(err, loop.Untracked) {
			r.y.t.Fatalf("%s: removed again: %v", what, err)
		}
		if _, err := r.loops(d).found(context.Background(), "deps"); !refusedAs(err, loop.Untracked) {
			r.y.t.Fatalf("%s: the folder is still there: %v", what, err)
		}
	default:
		r.y.t.Fatalf("%s: acknowledged %v, and the loop is %s, %v", what, acked, s.Status, err)
	}
	if _, err := r.loops(d).Create(context.Background(), "deps", "human:me"); err != nil {
		r.y.t.Fatalf("%s: made anew: %v", what, err)
	}
}

// P3: the removal of a loop, with an error or a power failure at every operation
// of the disk.
func TestSweepOfRemoval_P3(t *testing.T) {
	stride := 6
	if *torture {
		stride = 1
	}
	if testing.Short() {
		stride = 17
	}
	r := &removed{y: newYard(t, commits)}
	d := durable.NewMem()
	_, err := r.loops(d).Create(t.Context(), "deps", "human:me")
	must(t, err)
	_, err = r.loops(d).Retire(t.Context(), "deps", "kim", "r", true)
	must(t, err)
	r.base = d.Crash(512, durable.Everything)
	for n := 0; ; n += stride {
		d := r.base.Crash(512, durable.Everything)
		var left []*durable.Mem
		faulty := &durable.Faulty{Disk: d, Fail: durable.FailAt(n), Before: func(i int, _ durable.Op) {
			if i == n {
				left = append(left, d.Crash(512, durable.Nothing), d.Crash(512, durable.Everything))
			}
		}}
		acked := r.remove(faulty) == nil
		for i, before := range left {
			r.gone(before, false, fmt.Sprintf("the power failed before operation %d, survival %d", n, i))
		}
		r.gone(d.Crash(512, durable.Nothing), acked, fmt.Sprintf("operation %d failed, then the power", n))
		r.gone(d, acked, fmt.Sprintf("operation %d failed", n))
		if faulty.Count() <= n {
			if n < 15 || !acked {
				t.Errorf("%d operations, acknowledged %v", n, acked)
			}
			return
		}
	}
}
