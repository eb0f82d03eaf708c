package explorer

import (
	"strings"
	"testing"
	"time"
)

// P3: what comes after a finished run, another one or itself, is one live run, and
// nothing of either is lost.
func TestSuccessionAsBuilt_P3(t *testing.T) {
	for name, b := range map[string]SuccessionBounds{
		"two at once":    {Starts: 2, Commits: depth(3)},
		"crashes":        {Starts: 2, Commits: 3, Kills: depth(2), PowerFailures: 1},
		"power failures": {Starts: 2, Commits: depth(3), PowerFailures: 2},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := ExploreSuccession(SuccessionProtocol{}, b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" || r.States < 1000 {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks.
func TestSuccessionMutants(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    SuccessionProtocol
		b    SuccessionBounds
		want string
	}{
		{"the succession is not locked by a start", SuccessionProtocol{NoLock: true}, SuccessionBounds{Starts: 1, Commits: 2}, "two live runs"},
		{"the run is not read once more", SuccessionProtocol{NoLook: true}, SuccessionBounds{Starts: 1, Commits: 2}, "two live runs"},
		{"nobody looks for a run that followed", SuccessionProtocol{NoFollower: true}, SuccessionBounds{Starts: 1, Commits: 2}, "two live runs"},
		{"the end of the run is not made durable", SuccessionProtocol{NoSettle: true}, SuccessionBounds{Starts: 1, Commits: 1, Kills: 1, PowerFailures: 1}, "two live runs"},
		{"who follows is marked after it has its name", SuccessionProtocol{MarkLater: true}, SuccessionBounds{Starts: 1, Commits: 2, Kills: 1}, "two live runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ExploreSuccession(tt.p, tt.b)
			t.Logf("%v", r)
			if r.Broken == "" || !strings.Contains(r.Broken, tt.want) {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
