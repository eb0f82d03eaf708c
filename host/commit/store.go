package commit

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/spec-kitty/step-runner/kernel/journal"
)

// Snapshot is a state and where it lies in its run's history.
type Snapshot[S any] struct {
	ID       string // the run
	Subject  string // what the run is about: the slug it was started with
	State    S
	Revision uint64 // of the last record folded into State
	Digest   string // of that record, 64 hex digits
	Warnings []Warning
}

// Outcome is the end of a commit. On success it holds the new state; on a
// no-op or a refusal the state that was seen under the lock, and Committed is
// false.
type Outcome[S, E any] struct {
	Snapshot[S]
	Committed bool
	Events    []E       // what was recorded
	At        time.Time // the record's time; zero where nothing was recorded
}

// Store is one run. All methods may be called concurrently, also by several
// processes.
type Store[S, F, E any] interface {
	// ID is the run's id.
	ID() string
	// Read takes no lock and writes nothing, and works on a read-only mount.
	// It may show a commit that is not durable yet. With *NewerFormatError
	// comes the state as far as it could be folded.
	Read(ctx context.Context) (Snapshot[S], error)
	// Commit takes the lock once, decides and records. When it returns
	// without an error, what it answers is durable. Errors: the transition's
	// refusal as it is, *LockTimeoutError, *DamagedError, *TwoWritersError,
	// *NewerFormatError, *ReplacedError, *UnpublishedError, *AppendError (nothing was recorded)
	// and *UncertainError (it may have been).
	Commit(ctx context.Context, t Transition[S, F, E]) (Outcome[S, E], error)
	// Records visits the history from a revision on, oldest first, without a
	// lock, for display: records of newer formats are among them. An error of
	// visit ends it and is returned.
	Records(ctx context.Context, from uint64, visit func(Record[E]) error) error
	// Mentions tells whether text stands anywhere in the history. It compares
	// bytes, so text must be one that JSON writes as it is, such as a token.
	Mentions(ctx context.Context, text string) (bool, error)
	// Blob opens a file that was frozen at the start or put since; an error
	// that is fs.ErrNotExist says that there is none, a *DamagedError that
	// something is in its place which is no file.
	Blob(name string) (Blob, error)
	// PutBlob writes such a file anew, durably and as a whole.
	PutBlob(name string, data []byte) error
	// Publish writes a view beside the state, as a whole but not durably, and
	// gives its absolute path.
	Publish(name string, data []byte) (path string, err error)
	// Locate gives the absolute path of a file that was published; ok is
	// false where there is none, or an empty one.
	Locate(name string) (path string, ok bool)
	// Verify reads everything: checksums, chain, fold, state against journal.
	// What is wrong with the run is in the report; the error says that the
	// check itself could not be made.
	Verify(ctx context.Context) (Report, error)
	// Close gives back what the store holds. It does not wait for commits.
	Close() error
}

// Blob is an open frozen file.
type Blob interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Record is one commit of the history, for display.
type Record[E any] struct {
	Meta
	Subject string // in the first record only
	Digest  string
	Events  []RecordedEvent[E]
	Newer   string          // why this version does not understand the record; else ""
	Line    json.RawMessage // the whole line without its end
}

// RecordedEvent is an event of a record, also one that the machine does not
// know.
type RecordedEvent[E any] struct {
	Event E    // the zero value where Known is false
	Known bool // whether the machine could decode it
	Raw   json.RawMessage
}

// Report is what Verify found. A run is sound when Problems is empty.
type Report struct {
	Records  uint64 // good records, all in one chain
	Length   int64  // bytes up to the end of the last good record
	Tail     int64  // bytes after it: never acknowledged, cut by the next writer
	View     string // ViewCurrent, ViewBehind, ViewIgnored or ViewMissing
	Problems []error
}

// What Verify says about the state file.
const (
	ViewCurrent = "current" // it is the journal, folded
	ViewBehind  = "behind"  // intact, but the journal has more; the next writer makes it
	ViewIgnored = "ignored" // not intact, of another version or not what the journal says (then it is a problem too, which Mend mends); else the next writer makes it
	ViewMissing = "missing"
)

// New is a run to be started.
type New[S, F, E any] struct {
	ID    string            // a new ULID
	Blobs map[string][]byte // frozen with the run, by name; folders with "/"
	First Transition[S, F, E]
	Again bool // a finished run of the same slug may be followed by this one

	settled journal.Position // of the finished run, where it had to be made durable (indexed)
}

// Entry is one run of a catalog. Err says why a damaged one cannot be used; it
// is listed all the same.
type Entry struct {
	Slug string
	ID   string
	Err  error
}

// Catalog is the runs of one place. All methods may be called concurrently,
// also by several processes.
type Catalog[S, F, E any] interface {
	// Start makes a run with its first record and enters it under the slug.
	// It is durable on return. *ExistsError where the slug has a run (with
	// Again: one that is not finished). A refusal of First leaves no trace.
	Start(ctx context.Context, slug string, n New[S, F, E]) (Store[S, F, E], Outcome[S, E], error)
	// Lookup finds the slug's latest run; ErrNoRun where there is none. It
	// writes nothing.
	Lookup(ctx context.Context, slug string) (Store[S, F, E], error)
	// Open finds a run by its whole id; ErrNoRun where there is none. It
	// writes nothing.
	Open(ctx context.Context, id string) (Store[S, F, E], error)
	// List gives all runs by id, oldest first where ids are ULIDs.
	List(ctx context.Context) ([]Entry, error)
}
