package commit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
)

// loaded is a run as it was read.
type loaded[S any] struct {
	state    S
	subject  string
	pos      journal.Position // behind the last good record
	clean    bool             // an intact view ends exactly where the journal does
	warnings []Warning
}

// load reads the view, then the journal from where the view ends; so with an
// intact view the cost does not grow with the history. With a
// *NewerFormatError comes what could be folded. locked tells that no writer can be at
// work meanwhile.
func (s *run[S, F, E]) load(j durable.File, v *view, warnings []Warning, locked bool) (loaded[S], error) {
	out := loaded[S]{state: s.machine.Zero(), pos: journal.Position{Run: s.id}, warnings: warnings}
	size, err := j.Size()
	if err != nil {
		return out, err
	}
	var floor int64
	if v != nil {
		if err := s.compare(j, size, v); err != nil {
			return out, err
		}
		floor = v.Length
		if !s.opts.Watch || !s.touched(v, size, locked) {
			out = s.start(out, v)
		}
	}
	if err := s.fold(journal.NewReader(j, size, out.pos, floor), &out); err != nil {
		return out, err
	}
	out.clean = len(out.warnings) == len(warnings) && v != nil && v.Length == out.pos.End && out.pos.End == size
	return out, nil
}

// touched tells whether anybody but its last writer wrote to the journal since the view
// was made: then the view is a witness of its length and no more. To a reader, a
// journal that is longer than the view is that of a writer at work; whether it is, the
// next writer finds out.
func (s *run[S, F, E]) touched(v *view, size int64, locked bool) bool {
	if size != v.Length {
		return locked
	}
	return v.Stamp == "" || v.Stamp != s.stamp()
}

func (s *run[S, F, E]) stamp() string { return durable.Stamp(s.opts.Disk, s.journalPath()) }

// compare holds an intact view against the journal. The view was published
// after the record it names was synced, so where they differ the journal has
// lost something.
func (s *run[S, F, E]) compare(j durable.File, size int64, v *view) error {
	lost := func(why string) error {
		return &DamagedError{File: s.journalPath(), Line: v.Revision, Why: why}
	}
	if size < v.Length {
		return lost(fmt.Sprintf("it has %d bytes, of which %s vouches for %d", size, viewName, v.Length))
	}
	rec, ok, err := journal.At(j, v.Offset, v.Length)
	switch {
	case err != nil:
		return s.damage(err)
	case !ok, rec.Revision != v.Revision, rec.Digest != v.Digest, rec.Run != v.Run:
		return lost(fmt.Sprintf("the record that %s names is not there", viewName))
	}
	return nil
}

// start takes the state out of an intact view. One that another version of
// Evolve made is only a witness of the journal's length.
func (s *run[S, F, E]) start(out loaded[S], v *view) loaded[S] {
	if v.Evolve != s.machine.Version() {
		out.warnings = append(out.warnings, s.viewIgnored(fmt.Errorf("version %d made it, this is version %d", v.Evolve, s.machine.Version())))
		return out
	}
	var state S
	if err := json.Unmarshal(v.State, &state); err != nil {
		out.warnings = append(out.warnings, s.viewIgnored(err))
		return out
	}
	out.state, out.subject, out.pos = state, v.Subject, v.position()
	return out
}

// fold lays the records that follow onto the state.
func (s *run[S, F, E]) fold(r *journal.Reader, out *loaded[S]) error {
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.damage(err)
		}
		if err := s.evolve(&out.state, rec); err != nil {
			return err
		}
		if rec.Subject != "" {
			out.subject = rec.Subject
		}
		out.pos = r.Position()
	}
	if out.pos.Revision == 0 {
		return &DamagedError{File: s.journalPath(), Line: 1, Why: "it has no good first record"}
	}
	return nil
}

// evolve lays one record onto the state, or leaves it.
func (s *run[S, F, E]) evolve(state *S, rec journal.Record) error {
	newer := func(why string) error {
		return &NewerFormatError{File: s.journalPath(), Line: rec.Revision, Why: why}
	}
	if rec.Newer != "" {
		return newer(rec.Newer)
	}
	next, meta := *state, metaOf(rec)
	for _, raw := range rec.Events {
		e, err := s.machine.DecodeEvent(raw)
		if err != nil {
			return newer(err.Error())
		}
		next = s.machine.Evolve(next, meta, e)
	}
	*state = next
	return nil
}

func metaOf(rec journal.Record) Meta {
	return Meta{Run: rec.Run, Revision: rec.Revision, At: rec.At, Actor: rec.Actor, Kind: rec.Kind}
}

func (s *run[S, F, E]) snapshot(l loaded[S]) Snapshot[S] {
	if s.gone != nil {
		l.warnings = append(l.warnings, Warning{WarnRunMissing, s.gone.Error()})
	}
	return Snapshot[S]{
		ID: s.id, Subject: l.subject, State: l.state,
		Revision: l.pos.Revision, Digest: l.pos.Digest,
		Warnings: append(s.shared(), l.warnings...),
	}
}
