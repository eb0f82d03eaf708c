package lanes

import (
	"bytes"
	"encoding/json"
)

// Tail is how a log's bytes end. What follows Length is a last line that its
// writer did not finish, and that no reader counts.
type Tail struct {
	Length int  // of the whole lines
	Last   int  // where the last whole line begins; Length where there is none
	Ended  bool // the last whole line has its newline, or there is none
}

// TailOf looks at the end of a log's bytes. A last line that is whole but for its
// newline is whole: other tools may leave it so.
func TailOf(data []byte) Tail {
	data = bytes.TrimRight(data, "\x00")
	begin := lineBefore(data, len(data))
	line := data[begin:]
	ended := bytes.HasSuffix(line, []byte("\n"))
	text := bytes.TrimSpace(trimMark(line))
	if ended && !isTorn(line) || len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return Tail{Length: len(data), Last: begin, Ended: ended}
	}
	return Tail{Length: begin, Last: lineBefore(data, begin), Ended: true}
}

// lineBefore is where the line begins that ends at an offset.
func lineBefore(data []byte, end int) int {
	return bytes.LastIndexByte(data[:max(end-1, 0)], '\n') + 1
}

// isTorn tells whether a power failure left zero bytes in a line: a file may keep
// the length of what it lost. Every line that we append is synced before the
// next, so only the last one can be such.
func isTorn(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
