package loop

import "testing"

// An older copy of the state: the loop is halted before a token is given twice or an
// old grant is used, and cleared it goes on with tokens that were never given.
func TestOlderCopy(t *testing.T) {
	w := fresh(t)
	w.do(CancelRun{Tick: w.claim(), Signal: "hangup"})
	w.f.Kept = 5
	w.do(w.firing())
	if h := w.s.Halt; h == nil || h.Code != HaltOlderCopy || w.s.Token != 5 || w.s.Claim != nil || len(w.s.Due) == 0 {
		t.Fatalf("%+v", w.s)
	}
	w.do(Clear{By: By{Who: "ann"}, Code: HaltOlderCopy})
	if tick := w.claim(); tick.Token != 6 {
		t.Errorf("token %d", tick.Token)
	}
}

// The gate's program is on record, and a closed gate still is a skip in a row.
func TestSkipsInARowWithAGate(t *testing.T) {
	w := fresh(t)
	for n := 1; n < 4; n++ {
		tick := w.claim()
		w.do(Regroup{Tick: tick, Group: ProcessGroup{ID: 7}})
		w.do(CloseGate{Tick: tick})
		if w.s.Count.Skips != n {
			t.Errorf("%d skips in a row, not %d", w.s.Count.Skips, n)
		}
	}
}
