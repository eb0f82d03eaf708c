package commit

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spec-kitty/step-runner/kernel/journal"
)

// Records implements Store.
func (s *run[S, F, E]) Records(ctx context.Context, from uint64, visit func(Record[E]) error) error {
	return twice(ctx, func() error { return s.visit(ctx, &from, visit) })
}

// visit shows the records from *from on and moves it behind each one shown.
func (s *run[S, F, E]) visit(ctx context.Context, from *uint64, show func(Record[E]) error) error {
	v, _ := s.readView()
	j, err := s.readable()
	if err != nil {
		return err
	}
	defer j.Close()
	size, err := j.Size()
	if err != nil {
		return err
	}
	r := journal.NewReader(j, size, journal.Position{Run: s.id}, floorOf(v))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.damage(err)
		}
		if rec.Revision < *from {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := show(s.display(rec)); err != nil {
			return err
		}
		*from = rec.Revision + 1
	}
	if r.Position().Revision == 0 {
		return &DamagedError{File: s.journalPath(), Line: 1, Why: "it has no good first record"}
	}
	return nil
}

func floorOf(v *view) int64 {
	if v == nil {
		return 0
	}
	return v.Length
}

func (s *run[S, F, E]) display(rec journal.Record) Record[E] {
	out := Record[E]{
		Meta: metaOf(rec), Subject: rec.Subject, Digest: rec.Digest,
		Newer: rec.Newer, Line: bytes.Clone(rec.Line),
	}
	for _, raw := range rec.Events {
		shown := RecordedEvent[E]{Raw: raw}
		if e, err := s.machine.DecodeEvent(raw); err == nil {
			shown.Event, shown.Known = e, true
		} else if out.Newer == "" {
			out.Newer = err.Error()
		}
		out.Events = append(out.Events, shown)
	}
	return out
}

// mentionsChunk is how much of the history is looked through at once, bytes.
const mentionsChunk = 1 << 20

// Mentions implements Store. What follows the last good record is not
// history.
func (s *run[S, F, E]) Mentions(ctx context.Context, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	l, err := s.readTwice(ctx)
	if newer := new(NewerFormatError); err != nil && !errors.As(err, &newer) {
		return false, err
	}
	j, err := s.readable()
	if err != nil {
		return false, err
	}
	defer j.Close()
	return contains(ctx, j, l.pos.End, []byte(text))
}

// contains looks for text in the first size bytes, in pieces that overlap.
func contains(ctx context.Context, r io.ReaderAt, size int64, text []byte) (bool, error) {
	overlap := int64(len(text) - 1)
	buf := make([]byte, min(size, mentionsChunk+overlap))
	for at := int64(0); at+overlap < size; at += mentionsChunk {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if bytes.Contains(buf[:n], text) {
			return true, nil
		}
	}
	return false, nil
}
