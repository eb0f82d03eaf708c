package journal

import (
	"errors"
	"fmt"
	"io"
)

// File is what is needed of the open journal. It must not be open for
// appending: a record is written at an offset.
type File interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}

// MovedError says that the journal is not as long as it must be: somebody
// else wrote to it.
type MovedError struct{ Want, Have int64 }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the journal is %d bytes long and must be %d", e.Have, e.Want)
}

// CutError says that a record could not be written and that what was written
// of it is cut off again. Without it, an error of Append leaves open whether
// the record is there.
type CutError struct{ Err error }

func (e *CutError) Error() string { return "cut back: " + e.Err.Error() }
func (e *CutError) Unwrap() error { return e.Err }

// SyncError says that a sync failed: what was written may be durable or not.
type SyncError struct{ Err error }

func (e *SyncError) Error() string { return "sync: " + e.Err.Error() }
func (e *SyncError) Unwrap() error { return e.Err }

// Append writes a line at the end, which the caller knows. It does not sync.
// Errors: *MovedError, *CutError (the old end stands), others (unknown).
func Append(f File, end int64, line []byte) error {
	if err := expect(f, end); err != nil {
		return &CutError{err}
	}
	n, err := f.WriteAt(line, end)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if cut := f.Truncate(end); cut != nil {
			return errors.Join(err, cut)
		}
		return &CutError{err}
	}
	return expect(f, end+int64(len(line)))
}

func expect(f File, want int64) error {
	switch have, err := f.Size(); {
	case err != nil:
		return err
	case have != want:
		return &MovedError{Want: want, Have: have}
	}
	return nil
}

// Mend makes the last good record durable and the end of the journal: it cuts
// the tail off, writes the record's same bytes once more in place and syncs.
//
// The bytes are written although they are there: a sync of them may have
// failed, which can leave them in memory marked clean, and then another sync
// writes nothing. The same bytes again can be cut short anywhere without harm.
// A sync that fails is a *SyncError; other errors changed nothing that counts.
func Mend(f File, last Record) error {
	switch size, err := f.Size(); {
	case err != nil:
		return err
	case size > last.End:
		if err := f.Truncate(last.End); err != nil {
			return fmt.Errorf("cut the torn tail off: %w", err)
		}
	}
	line := append(append(make([]byte, 0, len(last.Line)+1), last.Line...), '\n')
	if _, err := f.WriteAt(line, last.Offset); err != nil {
		return fmt.Errorf("write the last record again: %w", err)
	}
	if err := f.Sync(); err != nil {
		return &SyncError{err}
	}
	return nil
}
