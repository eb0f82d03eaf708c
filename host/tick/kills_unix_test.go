//go:build unix

package tick

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// kill -9 at every point of a tick: the named ones of section 4 and, within each of
// its commits, before and after the lock, the append, the sync, the view. Ticks go on
// from there until a result has landed; then every token was given once and ended
// once, every run is counted once and its work was begun at most once, and what landed
// is what succeeded. Default: a few of the points; -torture: all.
func TestKilledAtEveryPoint_Row14_Row16_Row17_Row18_Row20(t *testing.T) {
	stride := 53
	if *torture {
		stride = 1
	}
	if testing.Short() {
		stride = 97
	}
	all := func(d *loop.Definition) {
		d.Gate, d.Verify, d.Goal = sh("true"), &loop.Verifier{Check: *sh("true")}, sh("exit 1")
		d.Worktree.Setup = []string{"true"}
		d.Notify = loop.Notify{Run: []string{"true"}, On: []loop.Occasion{loop.OnLost, loop.OnWaiting}}
	}
	asks := func(stage loop.Stage) func(*loop.Definition) {
		return func(d *loop.Definition) { d.Approval.Before = []loop.Stage{stage} }
	}
	for name, scene := range map[string]struct {
		change  func(*loop.Definition)
		granted bool // the tick that is killed uses a grant
	}{
		"a run":                {all, false},
		"asking to start":      {asks(loop.ToStart), false},
		"a granted start":      {asks(loop.ToStart), true},
		"a granted landing":    {asks(loop.ToLand), true},
		"a run asking to land": {asks(loop.ToLand), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for nth := 1 + len(name)%stride; ; nth += stride {
				y := newYard(t, `echo "$SPEC_KITTY_LOOP_TOKEN" >> "$SPEC_KITTY_ROOT/worked"; `+commits, scene.change)
				y.create("deps")
				if scene.granted {
					y.tick(y.loops())
					y.approve()
				}
				killed := y.killedAt(nth)
				y.goOn(t, fmt.Sprintf("killed at point %d", nth))
				if !killed {
					return
				}
			}
		})
	}
}

// killedAt runs a hand that is killed at its n-th point; false: it had fewer.
func (y *yard) killedAt(nth int) bool {
	y.t.Helper()
	hand := y.start(order{Root: y.root, Defs: y.defs, KillNth: nth})
	err := hand.Wait()
	if status, ok := hand.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
		return true
	}
	must(y.t, err)
	return false
}

// goOn ticks, with time going by, until something has landed, and holds the history
// against what happened.
func (y *yard) goOn(t *testing.T, what string) {
	t.Helper()
	for i := 1; y.landed() == 0 || y.status().Claim != nil; i++ {
		if i > 8 {
			t.Fatalf("%s: nothing landed: %+v", what, y.status())
		}
		later := time.Now().Add(time.Duration(i) * 5 * time.Minute) // past any backoff so far
		y.tick(y.loops(func(o *Options) { o.Now = func() time.Time { return later } }))
		y.approve()
	}
	h := y.account()
	s := y.status()
	worked, _ := os.ReadFile(filepath.Join(y.root, "worked"))
	tokens := strings.Fields(string(worked))
	switch {
	case s.Claim != nil || len(h.ended) != int(s.Token):
		t.Errorf("%s: of %d tokens %d ended: %+v", what, s.Token, len(h.ended), s)
	case s.Count.Runs != len(h.begun):
		t.Errorf("%s: %d runs were begun, %d are counted", what, len(h.begun), s.Count.Runs)
	case len(slices.Compact(slices.Sorted(slices.Values(tokens)))) != len(tokens):
		t.Errorf("%s: work was begun twice for one token: %q", what, tokens)
	case len(tokens) > len(h.begun):
		t.Errorf("%s: work was let go that is not on record: %q, on record %v", what, tokens, h.begun)
	case y.landed() != h.good:
		t.Errorf("%s: %d results landed, %d on record", what, y.landed(), h.good)
	}
	if v := y.verify(); len(v) > 0 {
		t.Errorf("%s: the journal: %v", what, v)
	}
}

// account is what is on record of a loop's tokens.
type account struct {
	begun, ended map[uint64]bool
	good         int // runs that changed something, and succeeded
}

func (y *yard) account() account {
	y.t.Helper()
	h := account{begun: map[uint64]bool{}, ended: map[uint64]bool{}}
	must(y.t, y.loops().Log(y.t.Context(), "deps", 1, func(rec commit.Record[loop.Event]) error {
		for _, e := range rec.Events {
			switch e := e.Event.(type) {
			case loop.Working:
				h.once(y.t, h.begun, e.Token)
			case loop.Ended:
				h.once(y.t, h.ended, e.Token)
				if e.Result == loop.EndSuccess && e.Progress == loop.Moved {
					h.good++
				}
			}
		}
		return nil
	}))
	return h
}

func (account) once(t testing.TB, seen map[uint64]bool, token uint64) {
	t.Helper()
	if seen[token] {
		t.Errorf("token %d is on record twice", token)
	}
	seen[token] = true
}
