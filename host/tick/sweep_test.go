package tick

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// Every verb that makes a record, against a disk that fails or loses its power at
// any moment. The project lies on the real disk, the loop's state on one in
// memory.

// verb is one of them: what is made before it, and the kind of its record.
type verb struct {
	kind   string
	before []func(l *Loops) error
	make   func(l *Loops) error
}

// committed commits a transition of a run or a tick, with the token that the loop
// has.
func committed(of func(l *Loops, s loop.State) transition) func(l *Loops) error {
	return func(l *Loops) error {
		o, err := l.open(context.Background(), "deps")
		if err != nil {
			return err
		}
		defer o.close()
		_, err = o.commit(context.Background(), of(l, o.state))
		return err
	}
}

func verbs() []verb {
	ctx := context.Background()
	create := func(l *Loops) error { _, err := l.Create(ctx, "deps", "human:me"); return err }
	pause := func(l *Loops) error {
		_, err := l.Pause(ctx, PauseRequest{Loop: "deps", Who: "kim", Reason: "r"})
		return err
	}
	mine := func(s loop.State) loop.Tick { return loop.Tick{UID: s.UID, Token: s.Token} }
	claim := committed(func(l *Loops, _ loop.State) transition {
		src, _ := l.ground.Source("deps")
		return loop.ClaimLoop{By: loop.By{Who: "tick"}, Runner: l.host.runner(time.Now().UTC()), Definition: src.Definition, Digest: src.Digest, ByHand: true, Zone: time.UTC}
	})
	return []verb{
		{"create", nil, create},
		{"claim", []func(*Loops) error{create}, claim},
		{"close_gate", []func(*Loops) error{create, claim}, committed(func(_ *Loops, s loop.State) transition { return loop.CloseGate{Tick: mine(s)} })},
		{"fail", []func(*Loops) error{create, claim}, committed(func(_ *Loops, s loop.State) transition {
			return loop.FailRun{Tick: mine(s), Why: "run_folder", Detail: "full"}
		})},
		{"pause", []func(*Loops) error{create}, pause},
		{"resume", []func(*Loops) error{create, pause}, func(l *Loops) error { _, err := l.Resume(ctx, "deps", "kim", "r"); return err }},
		{"retire", []func(*Loops) error{create}, func(l *Loops) error { _, err := l.Retire(ctx, "deps", "kim", "r", true); return err }},
	}
}

// swept is a verb, ready to be made from the same state again and again.
type swept struct {
	verb
	y    *yard
	base *durable.Mem
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
	return n
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
			w := &swept{verb: v, y: newYard(t, commits)}
			d := durable.NewMem()
			for _, step := range v.before {
				if err := step(w.loops(d)); err != nil {
					t.Fatal(err)
				}
			}
			w.base = d.Crash(512, durable.Everything)
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
