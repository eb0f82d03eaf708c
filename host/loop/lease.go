package loop

import (
	"fmt"
	"time"
)

// Standing is what a claim's lease is worth at one moment.
type Standing struct {
	Over    bool   // anybody may take the loop from it
	Proven  bool   // its runner is known to be gone
	Why     string // how that is known
	Warning string // a clock that cannot be right
}

// Standing judges the claim's lease; without a claim it is the zero Standing.
//
// Within one boot of one machine the clock since the boot decides, which no one
// sets and which goes on in sleep. After a restart nothing of the old boot runs.
// Elsewhere only wall clocks are left: they get as much grace again as the lease
// is long, and a renewal further in the future than that is none, so that a
// clock once set wrong gives no claim eternal life.
func (s State) Standing(f Facts, now time.Time) Standing {
	c := s.Claim
	if c == nil {
		return Standing{}
	}
	boot, up, at := c.Runner.Boot, c.Runner.Up, c.Runner.At
	if b := f.Beat; b != nil && b.Token == c.Token {
		boot, up, at = b.Boot, b.Up, b.At
	}
	lease := time.Duration(c.Rules.Lease)
	sameHost, known := c.Runner.Host == f.Here.Host, boot != "" && f.Here.Boot != ""
	switch {
	case sameHost && known && boot != f.Here.Boot:
		return Standing{Over: true, Proven: true, Why: "the machine was restarted since"}
	case sameHost && f.Runner == Gone:
		return Standing{Over: true, Proven: true, Why: fmt.Sprintf("its process %d is gone", c.Runner.PID)}
	case sameHost && known:
		return aged(time.Duration(f.Here.Up-up), lease, "by the clock since the boot")
	}
	return aged(now.Sub(at), 2*lease, "by the wall clock, grace included")
}

// aged judges a renewal of some age.
func aged(age, bound time.Duration, how string) Standing {
	var s Standing
	if age < 0 {
		s.Warning = fmt.Sprintf("its newest heartbeat lies %v in the future: a clock was set", rounded(-age))
	}
	if age > bound || -age > bound {
		s.Over, s.Why = true, fmt.Sprintf("no heartbeat for more than %v %s", rounded(bound), how)
		return s
	}
	s.Why = fmt.Sprintf("its newest heartbeat is %v old", rounded(max(age, 0)))
	return s
}

func rounded(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// Pulse is what a runner owes its lease.
type Pulse string

// The pulses. After BeatOrStop a heartbeat that cannot be written means Stop.
const (
	Rest       Pulse = "rest"
	DoBeat     Pulse = "beat"
	BeatOrStop Pulse = "beat_or_stop"
	StopWork   Pulse = "stop"
)

// PulseAt says what a runner does now: renew every third of the lease, and stop
// its work a sixth of it before anyone may take over. since is the time since
// the newest heartbeat that was written, by the clock that goes on in sleep;
// slept how much of it the machine slept. A runner that wakes tries one
// heartbeat first: where nobody overtook it, it goes on with the same token.
func PulseAt(lease, since, slept time.Duration) Pulse {
	switch {
	case since < lease/3:
		return Rest
	case since < lease-lease/6:
		return DoBeat
	case slept > 0:
		return BeatOrStop
	}
	return StopWork
}
