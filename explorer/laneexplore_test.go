package explorer

import (
	"strings"
	"testing"
	"time"
)

// P3: of a package whose lanes lie in a log outside of the run, the log is never
// behind the run, no move is there twice, nobody else gets what one holds, and a
// holder always gets further.
func TestLanesAsBuilt_P3(t *testing.T) {
	for name, b := range map[string]LaneBounds{
		"crashes":      {Calls: depth(5), Kills: 3, PowerFailures: 2},
		"another tool": {Calls: depth(4), Kills: 2, PowerFailures: 1, Strangers: 1},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := ExploreLanes(LaneProtocol{}, b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" || r.States < 500 {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks.
func TestLaneMutants(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    LaneProtocol
		b    LaneBounds
		want string
	}{
		{"the log's lock is not held", LaneProtocol{NoOuterLock: true}, LaneBounds{Calls: 1, Strangers: 1}, "two holders"},
		{"the record comes first", LaneProtocol{RecordFirst: true}, LaneBounds{Calls: 1}, "ahead of the log"},
		{"the move is not durable before the record", LaneProtocol{NoMoveSync: true}, LaneBounds{Calls: 1, PowerFailures: 1}, "ahead of the log"},
		{"a move that is found is not made durable", LaneProtocol{NoRelySync: true}, LaneBounds{Calls: 2, Kills: 1, PowerFailures: 1}, "ahead of the log"},
		{"a claim without an issue is not handed out", LaneProtocol{NoHandAgain: true}, LaneBounds{Calls: 1, Kills: 1}, "no further"},
		{"a report does not know its own move", LaneProtocol{NoOwnMove: true}, LaneBounds{Calls: 3, Kills: 1}, "twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ExploreLanes(tt.p, tt.b)
			t.Logf("%v", r)
			if r.Broken == "" || !strings.Contains(r.Broken, tt.want) {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
