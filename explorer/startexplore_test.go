package explorer

import (
	"strings"
	"testing"
	"time"
)

// P3: starts as built make one run of a mission, whatever becomes of the index,
// and nothing that was acknowledged is lost with a run's name.
func TestStartsAsBuilt_P3(t *testing.T) {
	for name, b := range map[string]StartBounds{
		"crashes":               {Starts: depth(3), Commits: 1, Kills: 2, PowerFailures: 2, FailedSyncs: 1},
		"somebody at the index": {Starts: 2, Commits: depth(2), Kills: 1, PowerFailures: 1, FailedSyncs: 1, Removals: 2},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := ExploreStarts(StartProtocol{}, b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" || r.States < 1000 {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks.
func TestStartMutants(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    StartProtocol
		b    StartBounds
		want string
	}{
		{"starts do not exclude each other", StartProtocol{NoLock: true}, StartBounds{Starts: 2}, "two runs"},
		{"the index is believed to say that there is no run", StartProtocol{TrustIndex: true}, StartBounds{Starts: 2, Removals: 1}, "two runs"},
		{"the name comes before the files are durable", StartProtocol{NoFileSync: true}, StartBounds{Starts: 1, PowerFailures: 1}, "half of it"},
		{"a start is answered before the name is durable", StartProtocol{NoNameSync: true}, StartBounds{Starts: 1, PowerFailures: 1}, "lost with its run"},
		{"the index names a run before its name is durable", StartProtocol{EntryFirst: true}, StartBounds{Starts: 1, Commits: 1, PowerFailures: 1}, "lost with its run"},
		{"a run without an entry is committed on at once", StartProtocol{NoHealSync: true}, StartBounds{Starts: 1, Commits: 1, Kills: 1, PowerFailures: 1}, "lost with its run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ExploreStarts(tt.p, tt.b)
			t.Logf("%v", r)
			if r.Broken == "" || !strings.Contains(r.Broken, tt.want) {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
