package explorer

import (
	"strings"
	"testing"
	"time"
)

// P3: one tick at a time owns a loop, one agent at a time works, each run is
// counted once, what operators decided stays, and the branch goes from one
// recorded commit to the next, wherever ticks are killed or stopped.
func TestLoopsAsBuilt_P3(t *testing.T) {
	for name, b := range map[string]LoopBounds{
		"crashes":          {Ticks: 3, Kills: depth(2), PowerFailures: 1},
		"stopped ticks":    {Ticks: 3, Kills: depth(1), Freezes: 1},
		"operators":        {Ticks: depth(2), Kills: 1, Freezes: 1, Pauses: 2},
		"approvals":        {Ticks: depth(3), Kills: 1, Decisions: 2, Approval: true, Strangers: 1},
		"somebody commits": {Ticks: 3, Kills: depth(1), Freezes: 1, Strangers: 1},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := ExploreLoops(LoopProtocol{}, b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" || r.States < 300 {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks.
func TestLoopMutants(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    LoopProtocol
		b    LoopBounds
		want string
	}{
		{"commits do not exclude each other", LoopProtocol{NoLock: true}, LoopBounds{Ticks: 2}, "two ticks have the loop"},
		{"and a pause beside one", LoopProtocol{NoLock: true}, LoopBounds{Ticks: 1, Pauses: 1}, "although an operator paused"},
		{"a claim is decided on what was read before the lock", LoopProtocol{NoReread: true}, LoopBounds{Ticks: 2}, "two ticks have the loop"},
		{"and a pause comes between", LoopProtocol{NoReread: true}, LoopBounds{Ticks: 1, Pauses: 1}, "although an operator paused"},
		{"an outcome does not look at the token", LoopProtocol{NoToken: true}, LoopBounds{Ticks: 2, Freezes: 1}, "two agents"},
		{"an outcome writes back what its tick read", LoopProtocol{WholeState: true}, LoopBounds{Ticks: 1, Pauses: 1}, "decision is lost"},
		{"a landing does not look for a cancel", LoopProtocol{NoCancel: true}, LoopBounds{Ticks: 1, Pauses: 1}, "canceled run lands"},
		{"nobody reaps", LoopProtocol{NoReap: true}, LoopBounds{Ticks: 1, Kills: 1}, "no tick comes through"},
		{"the heartbeat is not read again", LoopProtocol{NoLeaseAgain: true}, LoopBounds{Ticks: 2, Freezes: 1}, "beaten in time"},
		{"work is killed before its token is burnt", LoopProtocol{KillFirst: true}, LoopBounds{Ticks: 2, Freezes: 1}, "living tick is killed"},
		{"a claim does not wait for orphans", LoopProtocol{NoOrphans: true}, LoopBounds{Ticks: 3, Kills: 2}, "two agents"},
		{"work is let go before its group is on record", LoopProtocol{LetGoFirst: true}, LoopBounds{Ticks: 2, Kills: 1}, "two agents"},
		{"the branch is moved before the intent is recorded", LoopProtocol{SwapFirst: true}, LoopBounds{Ticks: 1}, "no record speaks of"},
		{"the branch is moved wherever it is", LoopProtocol{NoSwapCompare: true}, LoopBounds{Ticks: 1, Strangers: 1}, "drops what was on the branch"},
		{"and a tick that was stopped in its landing wakes", LoopProtocol{NoSwapCompare: true}, LoopBounds{Ticks: 2, Freezes: 1}, "drops what was on the branch"},
		{"a landing that was cut short is not finished", LoopProtocol{NoFinish: true}, LoopBounds{Ticks: 2, Kills: 1}, "no record speaks of"},
		{"a grant is used up by the run's end", LoopProtocol{GrantLater: true}, LoopBounds{Ticks: 3, Kills: 1, Decisions: 1, Approval: true}, "grant is used twice"},
		{"an approval is not held against what was shown", LoopProtocol{NoSubject: true}, LoopBounds{Ticks: 2, Decisions: 1, Approval: true, Strangers: 1}, "were not shown"},
		{"a grant is not held against what is there", LoopProtocol{NoSubjectAgain: true}, LoopBounds{Ticks: 2, Decisions: 1, Approval: true, Strangers: 1}, "another landing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ExploreLoops(tt.p, tt.b)
			t.Logf("%v", r)
			if r.Broken == "" || !strings.Contains(r.Broken, tt.want) {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
