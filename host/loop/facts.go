package loop

import "time"

// Facts is what Decide may know of the world, as read under the lock. Reading
// them runs nothing foreign and is quick.
type Facts struct {
	Here       Place
	Definition string              // digest of the loop's definition as it is now; "" where it cannot be read
	Beat       *Beat               // of the claim's token; nil where there is none
	Runner     Liveness            // the claim's runner
	Orphans    map[uint64]Liveness // process groups of burnt tokens; absent is Unknown
	Subject    *Subject            // what the pending approval is about, as it is now; nil where it cannot be told
	Shared     string              // another loop that has the same branch or worktree folder; "" for none
	Kept       uint64              // newest token of which the repository keeps a result; 0: none, or it cannot be told
	Unlanded   []string            // run commits that lie on no branch, for remove
}

// Place is where and when a decision is made.
type Place struct {
	Host string // name that tells machines apart
	Boot string // this boot's id; "" where the system has none
	Up   Span   // since the boot, sleep included
}

// Beat is the newest heartbeat of a runner.
type Beat struct {
	Token uint64    `json:"token"`
	Boot  string    `json:"boot,omitempty"`
	Up    Span      `json:"up"` // of the machine, sleep included
	At    time.Time `json:"at"` // by the wall clock
}

// Liveness is what is known of a process or a process group. An id alone proves
// nothing: zombies answer signals, and ids are given again, so alive and gone
// are told by id, start time and boot together.
type Liveness string

// The answers. The zero value is Unknown.
const (
	Unknown Liveness = ""
	Alive   Liveness = "alive"
	Gone    Liveness = "gone"
)
