package tick

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit/committest"
	"github.com/spec-kitty/step-runner/host/loop"
)

// verb is one that makes a record: what is made before it, and the kind of its
// record.
type verb struct {
	kind   string
	method string // of Loops, where it is one of an operator
	before []func(l *Loops) error
	make   func(l *Loops) error
	change []func(*loop.Definition)
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

// ofTick commits a transition of the tick that has the loop.
func ofTick(of func(own loop.Tick, c *loop.Claim) transition) func(l *Loops) error {
	return committed(func(_ *Loops, s loop.State) transition {
		c := s.Claim
		if c == nil { // refused by its token
			c = &loop.Claim{}
		}
		return of(loop.Tick{UID: s.UID, Token: s.Token}, c)
	})
}

// claimedBy claims for a process.
func claimedBy(pid int) func(l *Loops) error {
	return committed(func(l *Loops, _ loop.State) transition {
		src, _ := l.ground.Source("deps")
		r := l.host.runner(time.Now().UTC())
		if pid != 0 {
			r.PID, r.Start = pid, "1"
		}
		return loop.ClaimLoop{By: loop.By{Who: "tick"}, Runner: r, Definition: src.Definition, Digest: src.Digest, ByHand: true, Zone: time.UTC}
	})
}

// nobody is the id of no process.
const nobody = 1<<22 + 1

const (
	baseOfWork   = "1111111111111111111111111111111111111111"
	resultOfWork = "2222222222222222222222222222222222222222"
)

func asking(d *loop.Definition) { d.Approval.Before = []loop.Stage{loop.ToStart} }

func verbs() []verb {
	ctx := context.Background()
	create := func(l *Loops) error { _, err := l.Create(ctx, "deps", "human:me"); return err }
	pause := func(l *Loops) error {
		_, err := l.Pause(ctx, PauseRequest{Loop: "deps", Who: "kim", Reason: "r"})
		return err
	}
	retire := func(l *Loops) error { _, err := l.Retire(ctx, "deps", "kim", "r", true); return err }
	claim, dead := claimedBy(0), claimedBy(nobody)
	group := loop.ProcessGroup{ID: nobody, Start: "1"}
	work := ofTick(func(own loop.Tick, _ *loop.Claim) transition {
		return loop.BeginWork{Tick: own, Group: group, Base: baseOfWork, BaseTree: "t1"}
	})
	verify := ofTick(func(own loop.Tick, _ *loop.Claim) transition {
		return loop.BeginVerify{Tick: own, Result: resultOfWork, Tree: "t2"}
	})
	land := ofTick(func(own loop.Tick, _ *loop.Claim) transition {
		return loop.BeginLanding{Tick: own, Old: baseOfWork, New: resultOfWork, Tree: "t2", Branch: "loop/deps"}
	})
	fail := ofTick(func(own loop.Tick, _ *loop.Claim) transition {
		return loop.FailRun{Tick: own, Why: "run_folder", Detail: "full"}
	})
	refuted := ofTick(func(own loop.Tick, _ *loop.Claim) transition {
		return loop.FailVerify{Tick: own, Verdict: "v", Detail: "red"}
	})
	reap := ofTick(func(own loop.Tick, _ *loop.Claim) transition { return loop.Reap{Tick: own} })
	ask := committed(func(l *Loops, s loop.State) transition {
		src, _ := l.ground.Source("deps")
		base, _ := l.repo.Branch(ctx, "main")
		return loop.Ask{Tick: loop.Tick{UID: s.UID, Token: s.Token}, ID: "q" + strconv.FormatUint(s.Token, 10),
			Subject: loop.Subject{Stage: loop.ToStart, Definition: src.Digest, Base: base.ID}}
	})
	running := []func(*Loops) error{create, claim, work}
	then := func(steps []func(*Loops) error, more ...func(*Loops) error) []func(*Loops) error {
		return slices.Concat(steps, more)
	}
	wants := []func(*loop.Definition){asking}
	return []verb{
		{kind: "create", method: "Create", make: create},
		{kind: "claim", method: "Tick", before: then(nil, create), make: claim},
		{kind: "close_gate", before: then(nil, create, claim), make: ofTick(func(own loop.Tick, _ *loop.Claim) transition { return loop.CloseGate{Tick: own} })},
		{kind: "work", before: then(nil, create, claim), make: work},
		{kind: "regroup", before: running, make: ofTick(func(own loop.Tick, _ *loop.Claim) transition {
			return loop.Regroup{Tick: own, Group: loop.ProcessGroup{ID: nobody + 1, Start: "1"}}
		})},
		{kind: "fail", before: running, make: fail},
		{kind: "limit", before: running, make: ofTick(func(own loop.Tick, _ *loop.Claim) transition {
			return loop.HitLimit{Tick: own, Crossing: loop.Crossing{Code: loop.HaltTime, Detail: "too long"}}
		})},
		{kind: "cancel", before: running, make: ofTick(func(own loop.Tick, _ *loop.Claim) transition {
			return loop.CancelRun{Tick: own, Signal: "interrupt"}
		})},
		{kind: "verify", before: running, make: verify},
		{kind: "fail_verify", before: then(running, verify), make: refuted},
		{kind: "land", before: then(running, verify), make: land},
		{kind: "finish", before: then(running, verify, land), make: ofTick(func(own loop.Tick, _ *loop.Claim) transition {
			return loop.FinishRun{Tick: own, Head: resultOfWork}
		})},
		{kind: "finish_landing", before: then(nil, create, dead, work, verify, land), make: ofTick(func(own loop.Tick, _ *loop.Claim) transition {
			return loop.FinishLanding{Tick: own, Head: resultOfWork}
		})},
		{kind: "reap", method: "Recover", before: then(nil, create, dead, work), make: reap},
		{kind: "bury", before: then(nil, create, dead, work, reap), make: committed(func(_ *Loops, s loop.State) transition { return loop.Bury{By: loop.By{Who: "tick"}, Token: s.Token} })},
		{kind: "notify", before: then(running, verify, refuted), make: committed(func(_ *Loops, s loop.State) transition {
			t := loop.MarkSent{By: loop.By{Who: "tick"}}
			for _, n := range s.Due {
				t.Keys = append(t.Keys, n.Key)
			}
			return t
		})},
		{kind: "ask", before: then(nil, create, claim), make: ask, change: wants},
		{kind: "approve", method: "Approve", before: then(nil, create, claim, ask), change: wants,
			make: func(l *Loops) error { _, err := l.Approve(ctx, "deps", "kim", "q1", "fine"); return err }},
		{kind: "deny", method: "Deny", before: then(nil, create, claim, ask), change: wants,
			make: func(l *Loops) error { _, err := l.Deny(ctx, "deps", "kim", "q1", "no"); return err }},
		{kind: "clear", method: "Clear", before: then(running, verify, refuted),
			make: func(l *Loops) error {
				_, err := l.Clear(ctx, "deps", "kim", string(loop.HaltVerify), "looked", true)
				return err
			}},
		{kind: "note_invalid", before: then(nil, create),
			make: committed(func(*Loops, loop.State) transition {
				return loop.NoteInvalid{By: loop.By{Who: "tick"}, Detail: "a key is misspelled"}
			})},
		{kind: "pause", method: "Pause", before: then(nil, create), make: pause},
		{kind: "resume", method: "Resume", before: then(nil, create, pause), make: func(l *Loops) error { _, err := l.Resume(ctx, "deps", "kim", "r"); return err }},
		{kind: "retire", method: "Retire", before: then(nil, create), make: retire},
	}
}

// P3: the sweep knows every kind of record that loops make, and every method that
// writes. Remove is TestSweepOfRemoval's.
func TestEveryVerbIsSwept_P3(t *testing.T) {
	kinds, methods := map[string]bool{"remove": true}, map[string]bool{"Remove": true}
	for _, v := range verbs() {
		kinds[v.kind], methods[v.method] = true, true
	}
	for _, kind := range committest.Kinds(t, filepath.Join("..", "loop")) {
		if !kinds[kind] {
			t.Errorf("records of kind %q are made, and no sweep makes them", kind)
		}
	}
	writesNothing := []string{"All", "Check", "Described", "Diff", "Doctor", "Log", "PartLog", "Preflight", "PrintSchedule", "RunDir", "ScheduleStatus", "Sound", "Status"}
	elsewhere := []string{
		"InstallSchedule", "RemoveSchedule", // in the system's scheduler (host/scheduler)
		"Beat", // a run tells its runner, in a file that is replaced
	}
	all := reflect.TypeFor[*Loops]()
	for i := range all.NumMethod() {
		if name := all.Method(i).Name; !methods[name] && !slices.Contains(writesNothing, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("Loops.%s is neither swept nor known to write nothing", name)
		}
	}
}
