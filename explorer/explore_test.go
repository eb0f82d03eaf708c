package explorer

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var deep = flag.Bool("deep", false, "walk the protocol as built with one more fault")

// depth is how many faults a walk takes of those that it usually takes.
func depth(usual uint8) uint8 {
	switch {
	case *deep:
		return usual + 1
	case testing.Short():
		return usual - 1
	}
	return usual
}

// faults allows n faults, of whatever kinds.
func faults(b Bounds, n uint8) Bounds {
	b.Faults, b.Kills, b.PowerFailures, b.FailedSyncs, b.ShortAppends, b.Unpublished = n, n, n, n, n, n
	return b
}

func crashes(n uint8) Bounds { return faults(Bounds{Calls: 4}, n) }
func queries(n uint8) Bounds { return faults(Bounds{Calls: 3, Reads: 1}, n) }
func replacedLock(n uint8) Bounds {
	return faults(Bounds{Calls: 3, Replaced: 1}, n)
}
func outsider(n uint8) Bounds { return faults(Bounds{Calls: 3, Strangers: 1}, n) }
func rot(n uint8) Bounds      { return faults(Bounds{Calls: 3, Rotten: 1}, n) }

// The protocol as built keeps every promise, whatever happens within the
// bounds. The counts are printed with -v.
func TestAsBuilt(t *testing.T) {
	tests := []struct {
		name string
		b    Bounds
	}{
		{"crashes", crashes(depth(3))},
		{"queries", queries(depth(2))},
		{"the lock file is replaced", replacedLock(depth(2))},
		{"a stranger writes", outsider(depth(2))},
		{"bytes rot", rot(depth(2))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			r := Explore(Protocol{}, tt.b)
			t.Logf("%v (%v)", r, time.Since(begin).Round(time.Millisecond))
			if r.Broken != "" {
				t.Fail()
			}
		})
	}
}

// Each rule is one without which a promise breaks: taken out, the walk finds
// the break that is named here, and prints how to get there.
func TestMutants(t *testing.T) {
	tests := []struct {
		name string
		p    Protocol
		b    Bounds
		want string // in the promise that breaks
	}{
		{"no lock", Protocol{NoLock: true, NoCheck: true}, crashes(0), "lost"},
		{"no lock, the length still checked", Protocol{NoLock: true}, crashes(0), "refused although nobody else wrote"},
		{"no repair first", Protocol{NoRepair: true}, crashes(1), "refused although nobody else wrote"},
		{"no repair first, the length not checked", Protocol{NoRepair: true, NoCheck: true}, crashes(2), "lost"},
		{"the tail is not cut", Protocol{NoCut: true}, crashes(1), "damaged"},
		{"the last record is not written again", Protocol{NoRewrite: true}, crashes(2), "damaged"},
		{"a repair does not sync", Protocol{NoRepairSync: true}, crashes(2), "damaged"},
		{"a commit does not sync", Protocol{NoSync: true}, crashes(1), "lost"},
		{"acknowledged before the sync", Protocol{AckFirst: true}, crashes(1), "lost"},
		{"a failed sync is acknowledged", Protocol{FailedSyncIsFine: true}, crashes(2), "lost"},
		{"a failed sync is tried again", Protocol{SyncAgain: true}, crashes(2), "lost"},
		{"already so, before the repair", Protocol{NoopFirst: true}, crashes(2), "lost"},
		{"the view is published before the sync", Protocol{PublishFirst: true}, crashes(1), "damaged"},
		{"a failed append is left", Protocol{NoCutBack: true}, crashes(1), "left bytes"},
		{"the view's checksum is not looked at", Protocol{NoChecksum: true}, crashes(1), "writer calls a healthy run damaged"},
		{"a torn tail is damage", Protocol{NoTail: true}, crashes(1), "writer calls a healthy run damaged"},
		{"the view is trusted beyond the journal", Protocol{TrustView: true}, rot(0), "silence"},
		{"the view is trusted, and published first", Protocol{TrustView: true, PublishFirst: true}, crashes(1), "damaged"},
		{"a tail may begin before the view's length", Protocol{NoFloor: true}, rot(0), "silence"},
		{"a tail may have a good line behind it", Protocol{TailOverGood: true}, rot(1), "silence"},
		{"damage is reported after one read", Protocol{OneRead: true}, queries(1), "reader calls a healthy run damaged"},
		{"the lock is not compared again", Protocol{NoCompare: true}, replacedLock(0), "lost"},
		{"the length is not checked", Protocol{NoCheck: true}, outsider(0), "lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Explore(tt.p, tt.b)
			t.Logf("%v", r)
			if !strings.Contains(r.Broken, tt.want) || r.Broken == "" {
				t.Errorf("found %q, want something with %q", r.Broken, tt.want)
			}
		})
	}
}
