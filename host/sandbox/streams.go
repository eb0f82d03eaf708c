package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// The two floods. A writer that returned an error instead of panicking would
// leave it to the guest whether to notice: it could go on and exit with 0.
var (
	errOutput = errors.New("output limit reached")
	errLog    = errors.New("log limit reached")
)

// capped passes on at most left bytes and ends the guest at the next one.
type capped struct {
	ctx  context.Context
	to   io.Writer
	left int64
	full error
}

func (w *capped) Write(p []byte) (int, error) {
	gate(w.ctx)
	if int64(len(p)) > w.left {
		_, _ = w.to.Write(p[:w.left])
		w.left = 0
		panic(w.full)
	}
	w.left -= int64(len(p))
	return w.to.Write(p)
}

// input is the guest's stdin: the request, then its end. It never blocks.
type input struct {
	ctx context.Context
	r   *bytes.Reader
}

func (s input) Read(p []byte) (int, error) {
	gate(s.ctx)
	return s.r.Read(p)
}
