package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"time"
)

// drain is how long a stream may stay open after the program and its group are
// gone: only a process that left the group can hold it, and that one may do so
// for ever. What the program itself wrote is in the pipe by then.
const drain = 300 * time.Millisecond

// capture reads one stream: it counts and hashes all of it and keeps the end. A
// flood costs the program its own time, and us neither memory nor disk.
type capture struct {
	from *os.File
	most int64
	done chan struct{} // closed when nothing more is read

	// Written by read, to be looked at once done is closed.
	kept []byte
	n    int64
	sum  hash.Hash
	held bool
}

func newCapture(from *os.File, most int64) *capture {
	return &capture{from: from, most: most, done: make(chan struct{}), sum: sha256.New()}
}

func (c *capture) read() {
	defer close(c.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.from.Read(buf)
		c.keep(buf[:n])
		if err != nil {
			c.held = errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
	}
}

// keep lets the kept bytes grow to twice what is wanted before it moves them:
// each byte is moved once.
func (c *capture) keep(p []byte) {
	c.n += int64(len(p))
	c.sum.Write(p)
	c.kept = append(c.kept, p...)
	if int64(len(c.kept)) > 2*c.most {
		c.kept = append(c.kept[:0], c.kept[int64(len(c.kept))-c.most:]...)
	}
}

func (c *capture) finish(stop time.Time) (o Output, held bool) {
	if err := c.from.SetReadDeadline(stop); err != nil {
		_ = c.from.Close() // no deadlines here: whoever holds it is cut off at once
	}
	<-c.done
	_ = c.from.Close()
	kept := c.kept[max(0, int64(len(c.kept))-c.most):]
	return Output{Kept: kept, Bytes: c.n, SHA256: hex.EncodeToString(c.sum.Sum(nil)), Truncated: c.n > int64(len(kept))}, c.held
}
