package explorer

// Protocol says which rules are taken out of the commit protocol. The zero
// value is the protocol as built.
type Protocol struct {
	NoLock           bool // writers do not exclude each other
	NoRepair         bool // whatever the journal's end, append after the last good record
	NoCut            bool // a repair leaves the torn tail, an append goes behind it
	NoRewrite        bool // a repair syncs without writing the last record again
	NoRepairSync     bool // a repair does not sync
	NoSync           bool // a commit does not sync
	AckFirst         bool // a commit is acknowledged before its sync
	FailedSyncIsFine bool // a failed sync is acknowledged
	SyncAgain        bool // a failed sync is followed by another one, and that is believed
	NoopFirst        bool // "already so" is answered before the repair
	PublishFirst     bool // the view is published before the sync
	NoCutBack        bool // a failed append is reported, its bytes are left
	NoChecksum       bool // a torn view is taken for an intact one
	TrustView        bool // an intact view is not held against the journal
	NoFloor          bool // a tail may begin before the length in an intact view
	TailOverGood     bool // a bad line is the tail even where a good one follows
	NoTail           bool // a torn tail is damage
	OneRead          bool // a reader reports damage after one read
	NoCompare        bool // the lock is not compared with its path again
	NoCheck          bool // the journal's length is not checked before the append
}

// CommitSteps names the steps of a commit that finds nothing to repair, in
// order.
func CommitSteps() []string {
	return []string{
		"lock", "read view", "read journal", "decide", "compare lock", "check length", "append",
		"sync", "write temp view", "rename view", "unlock",
	}
}

// RepairSteps names the steps of a repair, which come between "read journal"
// and "decide".
func RepairSteps() []string {
	return []string{"compare lock", "cut tail", "rewrite last record", "sync", "write temp view", "rename view"}
}

// Bounds limit a walk: how often each thing may happen on one path.
type Bounds struct {
	Calls         uint8 // commits begun by either writer, at most 5
	Reads         uint8 // queries begun
	Faults        uint8 // of the kinds below up to Unpublished, together
	Kills         uint8
	PowerFailures uint8
	FailedSyncs   uint8
	ShortAppends  uint8
	Unpublished   uint8 // publications that fail
	Replaced      uint8 // lock files replaced
	Strangers     uint8 // commits by somebody without the lock
	Rotten        uint8 // cells that rot, or ends that get lost
}
