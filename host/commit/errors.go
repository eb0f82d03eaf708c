package commit

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// ErrNoRun says that there is no such run.
var ErrNoRun = errors.New("there is no such run")

// ExistsError refuses to start a second run for a slug.
type ExistsError struct{ Slug, ID string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s already has the run %s", e.Slug, e.ID)
}

// FollowedError refuses to open a finished run again: another run of its slug
// followed it. Nothing was written.
type FollowedError struct{ ID, By string }

func (e *FollowedError) Error() string {
	return fmt.Sprintf("run %s is over, and run %s followed it", e.ID, e.By)
}

// LockTimeoutError says that the lock could not be had in time. Nothing was
// written.
type LockTimeoutError struct {
	Path string
	Wait time.Duration
}

func (e *LockTimeoutError) Error() string {
	return fmt.Sprintf("the lock %s is held by another process for longer than %s; end that process or wait, never delete the file", e.Path, e.Wait)
}

// DamagedError says that bytes which were once acknowledged are gone or wrong, or
// that something lies in their place. Nothing was written, and nothing will be until
// somebody mends the file.
type DamagedError struct {
	File string
	Line uint64 // from 1; 0 where no line can be named
	Why  string
	Fix  string // what to do; "": restore it from a copy
	View bool   // it is the state file, which Mend makes anew from the journal: nothing is lost
}

func (e *DamagedError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.FormatUint(e.Line, 10)
	}
	return fmt.Sprintf("%s is damaged: %s; %s", place, e.Why, cmp.Or(e.Fix, "restore it from a copy"))
}

// TwoWritersError says that somebody wrote to the journal without the lock:
// a revision is there twice, or the journal grew under a holder's hands.
type TwoWritersError struct {
	File string
	Line uint64
	Why  string
}

func (e *TwoWritersError) Error() string {
	return fmt.Sprintf("%s:%d: two writers: %s; find the program or the copy that writes without the lock", e.File, e.Line, e.Why)
}

// NewerFormatError says that a newer version wrote a record. It can be shown
// with Records and is never written to.
type NewerFormatError struct {
	File string
	Line uint64
	Why  string
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s:%d was written by a newer version: %s; use that version", e.File, e.Line, e.Why)
}

// UncertainError says that a record was written and could not be made
// durable: the commit may have happened. The next call finds out and repairs.
type UncertainError struct{ Err error }

func (e *UncertainError) Error() string {
	return fmt.Sprintf("the commit is uncertain, ask for the state again: %v", e.Err)
}

func (e *UncertainError) Unwrap() error { return e.Err }

// AppendError says that the record could not be written (a full disk) and that
// what was written of it is cut off again. The old state stands.
type AppendError struct{ Err error }

func (e *AppendError) Error() string {
	return fmt.Sprintf("nothing was recorded, the record could not be written: %v", e.Err)
}

func (e *AppendError) Unwrap() error { return e.Err }

// UnpublishedError says that the files of an earlier record are still to be made
// and cannot be. Nothing else was decided; the record stays as it is.
type UnpublishedError struct {
	Revision uint64 // of that record
	Err      error
}

func (e *UnpublishedError) Error() string {
	return fmt.Sprintf("nothing was recorded: the files of revision %d are not made yet: %v", e.Revision, e.Err)
}

func (e *UnpublishedError) Unwrap() error { return e.Err }

// ReplacedError says that the folder or its lock file was replaced while the
// lock was held, so the lock protects nothing. Nothing was written.
type ReplacedError struct{ Path string }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s was removed or replaced while it was locked; nothing was recorded, call again", e.Path)
}

// UnknownEventError says that an event has a kind or a field that this version
// does not know. Machines return it from DecodeEvent.
type UnknownEventError struct{ Why string }

func (e *UnknownEventError) Error() string { return "unknown event: " + e.Why }

// GoneError says that the index names a run for a slug whose folder is not there:
// it was removed, or an older copy of the runs was put back. It is an ErrNoRun, but
// no other run is started for the slug until somebody asks for one Again.
type GoneError struct{ Slug, ID string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the index names run %s for %s, whose folder is not there: it was removed, or an older copy of the runs was put back", e.ID, e.Slug)
}

// Is makes it an ErrNoRun.
func (e *GoneError) Is(target error) bool { return target == ErrNoRun }
