package command

import (
	"bytes"
	"io"
	"os"
	"time"
)

// streams are a program's three, the child's ends and ours.
type streams struct {
	child    []*os.File // what the program gets, in order
	own      []*os.File // of child, those that are ours to close
	in       *os.File   // nil where nothing is to be fed
	out, err *capture   // nil with a Log
}

func openStreams(c Command) (s *streams, err error) {
	s = &streams{}
	defer func() {
		if err != nil {
			s.closeChild()
			s.abandon()
		}
	}()
	var in *os.File
	if len(c.Stdin) == 0 {
		in, err = os.Open(os.DevNull)
	} else {
		in, s.in, err = os.Pipe()
	}
	if err != nil {
		return s, err
	}
	s.give(in)
	if c.Log != nil {
		s.child = append(s.child, c.Log, c.Log)
		return s, nil
	}
	for _, to := range []**capture{&s.out, &s.err} {
		r, w, err := os.Pipe()
		if err != nil {
			return s, err
		}
		s.give(w)
		*to = newCapture(r, c.Output)
	}
	return s, nil
}

func (s *streams) give(f *os.File) { s.child, s.own = append(s.child, f), append(s.own, f) }

func (s *streams) closeChild() {
	for _, f := range s.own {
		_ = f.Close()
	}
	s.own = nil
}

// abandon closes our own ends where no program runs.
func (s *streams) abandon() {
	if s.in != nil {
		_ = s.in.Close()
	}
	for _, c := range []*capture{s.out, s.err} {
		if c != nil {
			_ = c.from.Close()
		}
	}
}

// serve feeds the program and reads what it writes.
func (s *streams) serve(input []byte) {
	if s.in != nil {
		go func() {
			// A program need not read its input: then the pipe breaks, or is closed
			// when the program ends.
			_, _ = io.Copy(s.in, bytes.NewReader(input))
			_ = s.in.Close()
		}()
	}
	for _, c := range []*capture{s.out, s.err} {
		if c != nil {
			go c.read()
		}
	}
}

// finish takes over what was written. It waits for nobody who still could write.
func (s *streams) finish() (stdout, stderr Output, held bool) {
	if s.in != nil {
		_ = s.in.Close()
	}
	if s.out == nil {
		return Output{}, Output{}, false
	}
	stop := time.Now().Add(drain)
	stdout, heldOut := s.out.finish(stop)
	stderr, heldErr := s.err.finish(stop)
	return stdout, stderr, heldOut || heldErr
}
