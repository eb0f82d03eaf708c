package journal

import (
	"bytes"
	"errors"
	"io"
)

// errCut is the end of a file inside a line; errLong a line over MaxLine.
var (
	errCut  = errors.New("the line has no end")
	errLong = errors.New("the line is too long")
)

// How much is read at once: by a reader of many records, and of one.
const (
	chunk      = 256 << 10
	chunkFirst = 8 << 10
)

// lines cuts a file into lines without ever holding more than one of at most
// MaxLine and a chunk.
type lines struct {
	r    io.ReaderAt
	size int64 // where to stop; what is written behind it meanwhile is not seen
	step int64 // how much to read at once
	next int64 // where buf ends in the file
	buf  []byte
	at   int // where the next line begins in buf
}

// offset is where the next line begins in the file.
func (l *lines) offset() int64 { return l.next - int64(len(l.buf)-l.at) }

// line gives the next line without its newline, valid until the next call.
// io.EOF is the end of the file at the beginning of a line. A line that is
// errLong is skipped.
func (l *lines) line() ([]byte, error) {
	seen := 0
	for {
		rest := l.buf[l.at:]
		if i := bytes.IndexByte(rest[seen:], '\n'); i >= 0 {
			l.at += seen + i + 1
			return rest[:seen+i], nil
		}
		if len(rest) >= MaxLine {
			return nil, l.skip()
		}
		seen = len(rest)
		switch more, err := l.fill(); {
		case err != nil:
			return nil, err
		case !more && seen == 0:
			return nil, io.EOF
		case !more:
			l.at = len(l.buf)
			return rest, errCut
		}
	}
}

// skip passes over the rest of a line that is too long.
func (l *lines) skip() error {
	for {
		l.at = len(l.buf)
		switch more, err := l.fill(); {
		case err != nil:
			return err
		case !more:
			return errLong
		}
		if i := bytes.IndexByte(l.buf, '\n'); i >= 0 {
			l.at = i + 1
			return errLong
		}
	}
}

// fill reads on; false at the end of the file.
func (l *lines) fill() (bool, error) {
	want := min(l.size-l.next, l.step)
	if want <= 0 {
		return false, nil
	}
	rest := l.buf[l.at:]
	fresh := l.buf[:0]
	if cap(fresh) < len(rest)+int(want) {
		fresh = make([]byte, 0, 2*len(rest)+int(want))
	}
	l.buf = append(fresh, rest...)
	l.at = 0
	n, err := l.r.ReadAt(l.buf[len(l.buf):len(l.buf)+int(want)], l.next)
	l.buf = l.buf[:len(l.buf)+n]
	l.next += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n > 0, nil
}
