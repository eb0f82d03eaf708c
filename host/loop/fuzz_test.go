package loop

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzDecodeEvent: no bytes make the decoder or Evolve panic, and an event that was
// read comes back as it was written.
func FuzzDecodeEvent(f *testing.F) {
	for _, e := range oneOfEach() {
		raw, err := EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	f.Add([]byte(`{"ended":{"token":18446744073709551615}}`))
	f.Add([]byte(`{"teleported":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := DecodeEvent(raw)
		if err != nil {
			return
		}
		again, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeEvent(again)
		if err != nil {
			t.Fatalf("%s was written as %s, which is not read: %v", raw, again, err)
		}
		if diff := cmp.Diff(e, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		Evolve(Evolve(State{}, Meta{Revision: 1}, e), Meta{Revision: 2}, e)
	})
}

// FuzzDecide: whatever events a journal holds, one a line, they fold; and nobody's
// transition on the state that they make panics, nor what is shown of it.
func FuzzDecide(f *testing.F) {
	var story []byte
	for _, e := range oneOfEach() {
		raw, err := EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(append(append(story, raw...), '\n')))
		story = append(append(story, raw...), '\n')
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := &world{t: t, now: epoch, def: definition()}
		w.f = Facts{Here: Place{Host: "h", Boot: "b", Up: Span(time.Hour)}, Definition: digest, Runner: Gone, Orphans: map[uint64]Liveness{}}
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			if e, err := DecodeEvent(line); err == nil {
				w.s = Evolve(w.s, Meta{Revision: w.s.Revision + 1, At: w.now}, e)
			}
		}
		w.everyone()
	})
}

// everyone tries each transition on the state, each by itself.
func (w *world) everyone() {
	state, tick := w.s, Tick{UID: w.s.UID, Token: w.s.Token}
	all := []transition{
		w.firing(), Create{By: By{Who: "ann"}, UID: "u1", Name: "deps", Definition: digest}, Regroup{Tick: tick},
		w.beginWork(tick), w.beginVerify(tick), BeginLanding{Tick: tick, Old: "base", New: "commit"},
		CloseGate{Tick: tick}, FailRun{Tick: tick, Why: "timeout"}, FailVerify{Tick: tick, Verdict: "v"},
		HitLimit{Tick: tick, Crossing: Crossing{Code: HaltContext}}, CancelRun{Tick: tick}, CancelRun{Tick: tick, Signal: "INT"},
		FinishRun{Tick: tick, Head: "x"}, Reap{Tick: tick}, FinishLanding{Tick: tick, Head: "base"}, Bury{By: By{Who: "tick"}, Token: tick.Token},
		Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToStart}}, Ask{Tick: tick, ID: "q", Subject: Subject{Stage: ToLand}},
		Approve{By: By{Who: "kim"}, ID: "q"}, Deny{By: By{Who: "kim"}, ID: "q"}, Clear{By: By{Who: "kim"}, Code: state.HaltCode(), Reset: true},
		Pause{By: By{Who: "kim"}, Now: true}, Resume{By: By{Who: "kim"}}, Retire{By: By{Who: "kim"}, Now: true},
		Remove{By: By{Who: "kim"}, Force: true}, MarkSent{By: By{Who: "tick"}, Keys: []string{"1/lost"}},
	}
	for _, x := range all {
		w.s = state
		_, _ = w.try(x)
		w.s.Shown(w.f, w.now)
		w.s.Standing(w.f, w.now)
	}
}
