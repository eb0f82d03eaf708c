//go:build unix

package tick

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
)

// crowd are hands that are started, and held back until all of them are there.
type crowd struct {
	y     *yard
	hands []*exec.Cmd
	let   *os.File // closed: they go
}

// crowd starts n hands and returns once each of them waits at the barrier: a pipe
// of which we have the other end.
func (y *yard) crowd(n int) *crowd {
	y.t.Helper()
	barrier, let, err := os.Pipe()
	must(y.t, err)
	defer barrier.Close()
	c := &crowd{y: y, let: let}
	for range n {
		c.hands = append(c.hands, y.startAt(order{Root: y.root, Defs: y.defs, Barrier: true}, barrier))
	}
	for _, hand := range c.hands {
		waitFor(y.t, "a hand is at the barrier", func() bool { return len(said(y.t, hand)) > 0 })
	}
	return c
}

func said(t testing.TB, hand *exec.Cmd) []byte {
	t.Helper()
	raw, err := os.ReadFile(hand.Stdout.(*os.File).Name())
	must(t, err)
	return raw
}

// answered is what a hand reported after the barrier; ok is false until it did.
func answered(t testing.TB, hand *exec.Cmd) (r Report, ok bool) {
	t.Helper()
	raw := said(t, hand)[len(atBarrier):]
	if len(raw) == 0 || raw[len(raw)-1] != '\n' {
		return r, false
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%s", raw)
	}
	return r, true
}

// Rows 1 and 2, S1, SerializeConcurrent: eight processes, each with a tick of its own
// that has read the loop as free, are let go together: one gets the token and begins
// the work, once; the seven others have skipped as busy, on record, while that work is
// still kept at work. Red with the lock out, and with the claim's re-read out.
func TestSerializeProcesses_Row1_Row2_S1(t *testing.T) {
	const n = 8
	rounds := 2
	if *torture {
		rounds = 200
	}
	if testing.Short() {
		rounds = 1
	}
	y := newYard(t, blocked+commits, func(d *loop.Definition) { d.Limits.MaxRuns = 10000 })
	y.create("deps")
	for round := 1; round <= rounds; round++ {
		c := y.crowd(n)
		must(t, c.let.Close())
		busy := map[*exec.Cmd]bool{}
		waitFor(t, "all but one have answered", func() bool {
			for _, hand := range c.hands {
				r, ok := answered(t, hand)
				if ok && (r.Outcome != Skipped || r.ReasonCode != "busy") {
					t.Fatalf("round %d: %+v", round, r)
				}
				if ok {
					busy[hand] = true
				}
			}
			return len(busy) == n-1 && y.begun() == round
		})
		y.let()
		for _, hand := range c.hands {
			must(t, hand.Wait())
			if r, _ := answered(t, hand); !busy[hand] && r.Outcome != Done {
				t.Fatalf("round %d: %+v", round, r)
			}
		}
		must(t, os.Remove(y.root+"/go"))
		tokens, skips := y.history()
		if s := y.status(); tokens != round || skips != round*(n-1) || s.Token != uint64(round) || s.Count.Runs != round || y.begun() != round {
			t.Fatalf("round %d: %d tokens given, the newest %d, %d runs, the work began %d times, %d skips", round, tokens, s.Token, s.Count.Runs, y.begun(), skips)
		}
	}
}

// history counts the tokens that were given and the ticks that found the loop busy,
// as they are on record.
func (y *yard) history() (tokens, busy int) {
	y.t.Helper()
	must(y.t, y.loops().Log(y.t.Context(), "deps", 1, func(rec commit.Record[loop.Event]) error {
		for _, e := range rec.Events {
			switch e := e.Event.(type) {
			case loop.Claimed:
				tokens++
			case loop.Skipped:
				if e.Reason == loop.SkipBusy {
					busy++
				}
			}
		}
		return nil
	}))
	return tokens, busy
}
