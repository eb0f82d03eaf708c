package journal

import "fmt"

// Class is a way in which a journal can be wrong beyond its torn tail.
type Class string

// The classes of damage.
const (
	BadLine Class = "bad_line"     // a wrong digest before a good line, or before what was acknowledged
	Zeros   Class = "zero_bytes"   // the same, and the line has zero bytes in it
	Short   Class = "short"        // shorter than what was acknowledged
	Empty   Class = "empty"        // no good record at all
	Gap     Class = "gap"          // a revision is missing
	Chain   Class = "broken_chain" // a record does not continue the one before it
	Twice   Class = "two_records"  // one revision is there twice: two writers
	Foreign Class = "foreign"      // a record of another run
)

// DamageError says that bytes which were once acknowledged are gone or wrong.
type DamageError struct {
	Class  Class
	Line   uint64 // from 1
	Offset int64  // of the line
	Why    string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("line %d (byte %d): %s", e.Line, e.Offset, e.Why)
}

// Position is a place in the history: right after a good record. The zero
// value is the place before the first one.
type Position struct {
	Run      string // "": any
	Revision uint64
	Digest   string // "": NoDigest
	Offset   int64  // where the record's line begins
	End      int64  // where it ends
}

// after is the place behind a record.
func after(r Record) Position {
	return Position{Run: r.Run, Revision: r.Revision, Digest: r.Digest, Offset: r.Offset, End: r.End}
}

// check tells whether r may stand at this place.
func (p Position) check(r Record) error {
	damage := func(c Class, format string, args ...any) error {
		return &DamageError{Class: c, Line: p.Revision + 1, Offset: r.Offset, Why: fmt.Sprintf(format, args...)}
	}
	prev := p.Digest
	if prev == "" {
		prev = NoDigest
	}
	switch {
	case p.Run != "" && r.Run != p.Run:
		return damage(Foreign, "a record of the run %q in the journal of %q", r.Run, p.Run)
	case r.Revision > 0 && r.Revision <= p.Revision:
		return damage(Twice, "revision %d is there twice", r.Revision)
	case r.Revision != p.Revision+1:
		return damage(Gap, "revision %d follows revision %d", r.Revision, p.Revision)
	case r.Prev != prev:
		return damage(Chain, "revision %d does not continue the record before it", r.Revision)
	}
	return nil
}
