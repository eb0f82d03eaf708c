package commit

import (
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// DefaultLockTimeout is how long a commit waits for the lock.
const DefaultLockTimeout = 10 * time.Second

// Warning is something that went wrong and changed no outcome.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Codes of warnings.
const (
	WarnViewIgnored    = "view_ignored"      // state file not intact; the journal was folded
	WarnViewNotWritten = "view_not_written"  // committed, but a view is old; the next writer makes it
	WarnNetworkMount   = "network_mount"     // locks and syncs may not hold on this mount
	WarnUnlock         = "lock_not_released" // it is released when the process ends
	WarnRunMissing     = "run_missing"       // the index names a later run, whose folder is gone
	WarnNotPublished   = "not_published"     // committed, but its files are not made; the next writer makes them
)

// Options of the store in files. The zero value is the one to use.
type Options struct {
	Disk        durable.Disk                  // nil: the real one
	Locks       func(path string) *locks.Lock // nil: locks.At
	LockTimeout time.Duration                 // 0: DefaultLockTimeout; below 0: do not wait
	Now         func() time.Time              // nil: time.Now
	Journal     string                        // name of the journal file; "": "run.events.jsonl"

	// Owner is who alone may use the root, such as a project where the root lies
	// outside of it: it is written into the root at the first use, and everybody
	// else's starts and commits are refused from then on. "": nobody.
	Owner string

	// Watch has the view keep the journal's stamp, and the whole journal read where
	// that is another one: so a record that was changed, long before those that a
	// call needs, is damage to that call. It costs one look at the file; a whole
	// reading, which grows with the history, comes after somebody touched it only.
	Watch bool

	// Hook is called at the points named below, nil: not at all. It is for
	// tests, which stop, kill or overtake a commit there.
	Hook func(point string)
}

// Named points. Of a group, each is met at most once per commit or start, in this
// order; a commit heals before it takes its lock, and a reader meets its point at
// each look.
const (
	PointLockAcquired  = "lock_acquired"
	PointRepaired      = "repaired" // only where a repair was needed
	PointBeforeAppend  = "before_append"
	PointAfterAppend   = "after_append"
	PointAfterSync     = "after_sync"
	PointBeforePublish = "before_publish"
	PointAfterPublish  = "after_publish"
	PointPublished     = "published" // a Publisher's files are made and the record that says so is written
	PointBeforeRelease = "before_release"
	PointReleased      = "released"

	PointStartLocked   = "start_locked"  // the index lock is held
	PointStartPrivate  = "start_private" // the private folder is made
	PointStartSynced   = "start_synced"  // it is whole and durable
	PointStartFollows  = "start_follows" // only where it follows a run: that one's succession lock is held
	PointStartMarked   = "start_marked"  // and it is marked as followed
	PointStartRenamed  = "start_renamed" // it has its own name
	PointStartIndexed  = "start_indexed" // the slug names it
	PointStartReleased = "start_released"
	PointHealLocked    = "heal_locked" // the index lock is held to mend the index
	PointHealReleased  = "heal_released"

	PointViewRead = "view_read" // a reader has the view and not yet the journal
)

func (o Options) withDefaults() Options {
	if o.Disk == nil {
		o.Disk = durable.OS()
	}
	if o.Locks == nil {
		o.Locks = locks.At
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = DefaultLockTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Journal == "" {
		o.Journal = "run.events.jsonl"
	}
	if o.Hook == nil {
		o.Hook = func(string) {}
	}
	return o
}
