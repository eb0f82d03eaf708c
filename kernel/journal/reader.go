package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads records from a place on and proves that each continues the one
// before it. Not for concurrent use.
type Reader struct {
	lines lines
	pos   Position
	floor int64 // what was acknowledged ends here, at least
	err   error // how it ended
}

// NewReader reads the first size bytes of r, from the place from on. floor is
// the length up to which an intact view vouches for the journal, 0 if none
// does: a bad line before it is damage even at the end.
func NewReader(r io.ReaderAt, size int64, from Position, floor int64) *Reader {
	return &Reader{
		lines: lines{r: r, size: size, step: chunk, next: from.End},
		pos:   from,
		floor: floor,
	}
}

// Position is the place after the last record that Next gave.
func (r *Reader) Position() Position { return r.pos }

// Next gives the next record, valid until the next call. io.EOF: no good
// record follows; what lies between Position().End and the end of the file is
// the torn tail. *DamageError: what follows is neither. Other errors are the
// file's.
func (r *Reader) Next() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	rec, err := r.next()
	if err != nil {
		r.err = err
		return Record{}, err
	}
	r.pos = after(rec)
	return rec, nil
}

func (r *Reader) next() (Record, error) {
	if r.lines.size < r.pos.End {
		return Record{}, r.short()
	}
	offset := r.lines.offset()
	line, err := r.lines.line()
	if errors.Is(err, io.EOF) && r.lines.size < r.floor {
		return Record{}, r.short() // after the good ones that are left
	}
	var rec Record
	if err == nil {
		rec, err = Parse(line)
	}
	switch {
	case errors.Is(err, errBad), errors.Is(err, errCut), errors.Is(err, errLong):
		return Record{}, r.tail(offset, line, err)
	case err != nil:
		return Record{}, err
	}
	rec.Offset, rec.End = offset, r.lines.offset()
	if rec.Newer != "" && rec.Revision == 0 {
		// Not even the place in the chain can be read: it stands where it is.
		rec.Run, rec.Revision = r.pos.Run, r.pos.Revision+1
		return rec, nil
	}
	return rec, r.pos.check(rec)
}

// short is the damage of a journal that lost its end.
func (r *Reader) short() error {
	return &DamageError{Class: Short, Line: r.pos.Revision + 1, Offset: r.lines.size,
		Why: fmt.Sprintf("it has %d bytes, %d were acknowledged", r.lines.size, max(r.floor, r.pos.End))}
}

// tail judges a bad line at offset: the torn tail if it was never vouched for
// and no good line follows, else damage.
func (r *Reader) tail(offset int64, line []byte, why error) error {
	damage := &DamageError{Class: BadLine, Line: r.pos.Revision + 1, Offset: offset, Why: why.Error()}
	if bytes.IndexByte(line, 0) >= 0 {
		damage.Class, damage.Why = Zeros, "it has zero bytes in it"
	}
	if offset < r.floor {
		return damage
	}
	if holdsGood(line) {
		damage.Why += ", and a good record hangs on to it"
		return damage
	}
	for {
		line, err := r.lines.line()
		switch {
		case err == nil && (Good(line) || holdsGood(line)):
			damage.Why += ", and a good record follows it"
			return damage
		case err == nil, errors.Is(err, errLong) && r.lines.offset() < r.lines.size:
		case errors.Is(err, io.EOF), errors.Is(err, errCut), errors.Is(err, errLong):
			return io.EOF
		default:
			return err
		}
	}
}

// maxInside bounds the beginnings of records at which a bad line is tried. Each try
// takes a digest of the rest, so a line made of nothing else would take for ever.
const maxInside = 16

// holdsGood tells whether a bad line ends in a good one: the newline between
// them is what went bad. Inside of a record its own beginning cannot stand, since
// quotes in texts are escaped and an object within events is not the line's end.
// One that begins too often is taken for such a line: nobody wrote it, and nothing
// of it is cut off.
func holdsGood(line []byte) bool {
	if !hasSeal(line) {
		return false
	}
	at := 0
	for range maxInside {
		next := bytes.Index(line[at+1:], []byte(recordOpen))
		if next < 0 {
			return false
		}
		if at += 1 + next; Good(line[at:]) {
			return true
		}
	}
	return true
}

// At reads the one record that lies in [offset, end). ok is false where no
// good line lies exactly there.
func At(r io.ReaderAt, offset, end int64) (rec Record, ok bool, err error) {
	if offset < 0 || end <= offset || end-offset > MaxLine {
		return Record{}, false, nil
	}
	buf := make([]byte, end-offset)
	if n, err := r.ReadAt(buf, offset); n < len(buf) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return Record{}, false, err
	}
	line, found := bytes.CutSuffix(buf, []byte("\n"))
	if !found || bytes.IndexByte(line, '\n') >= 0 {
		return Record{}, false, nil
	}
	rec, err = Parse(line)
	if err != nil {
		return Record{}, false, nil
	}
	rec.Offset, rec.End = offset, end
	return rec, true, nil
}

// First reads the first record of a journal of size bytes. An error that is a
// *DamageError says that there is no good one.
func First(r io.ReaderAt, size int64) (Record, error) {
	rd := NewReader(r, size, Position{}, 0)
	rd.lines.step = chunkFirst
	rec, err := rd.Next()
	if errors.Is(err, io.EOF) {
		err = &DamageError{Class: Empty, Line: 1, Why: "it has no good first record"}
	}
	return rec, err
}
