package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// facts reads what the transition relied on outside of the run.
func (c *core[S, F, E]) facts(ctx context.Context, state S, t Transition[S, F, E]) (F, error) {
	if c.outside == nil {
		var none F
		return none, nil
	}
	return c.outside.Facts(ctx, state, t)
}

// same compares the lock's descriptor with its path.
func (s *run[S, F, E]) same(held *locks.Held) error {
	if err := held.Same(); err != nil {
		return &ReplacedError{Path: s.dir}
	}
	return nil
}

// next is everything that a commit writes, made before it writes anything.
type next[S any] struct {
	state S
	rec   journal.Record
	line  []byte // the record
	pos   journal.Position
	view  view
}

// recorded enters what a commit wrote into its outcome.
func (o *Outcome[S, E]) recorded(n next[S], events []E) {
	o.Committed, o.Events, o.At = true, events, n.rec.At
	o.State, o.Revision, o.Digest = n.state, n.pos.Revision, n.pos.Digest
}

// loaded is the run as it is once the record is written.
func (n next[S]) loaded(subject string) loaded[S] {
	return loaded[S]{state: n.state, subject: subject, pos: n.pos, clean: true}
}

// next encodes the events and folds them as a reader will: from their encoded
// form. So the view is the folded journal by construction, and an event that
// could not be read again is never written.
func (c *core[S, F, E]) next(l loaded[S], kind, actor string, events []E, now time.Time) (next[S], error) {
	rec := journal.Record{
		Run: l.pos.Run, Revision: l.pos.Revision + 1, At: now,
		Actor: actor, Kind: kind, Prev: l.pos.Digest,
	}
	if rec.Revision == 1 {
		rec.Subject, rec.Prev = l.subject, journal.NoDigest
	}
	out := next[S]{state: l.state}
	for _, e := range events {
		raw, err := c.machine.EncodeEvent(e)
		if err != nil {
			return out, fmt.Errorf("encode an event of %s: %w", rec.Kind, err)
		}
		again, err := c.machine.DecodeEvent(raw)
		if err != nil {
			return out, fmt.Errorf("an event of %s cannot be read again: %w", rec.Kind, err)
		}
		out.state = c.machine.Evolve(out.state, metaOf(rec), again)
		rec.Events = append(rec.Events, raw)
	}
	line, digest, err := journal.Encode(rec)
	if err != nil {
		return out, err
	}
	rec.Line, rec.Digest = line[:len(line)-1], digest
	out.line, out.rec = line, rec
	out.pos = journal.Position{Run: rec.Run, Revision: rec.Revision, Digest: digest, Offset: l.pos.End, End: l.pos.End + int64(len(line))}
	out.view, err = c.view(out.pos, l.subject, out.state)
	return out, err
}

func (c *core[S, F, E]) view(pos journal.Position, subject string, state S) (view, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return view{}, fmt.Errorf("encode the state: %w", err)
	}
	return view{
		Format: viewFormat, Run: pos.Run, Subject: subject, Revision: pos.Revision,
		Length: pos.End, Offset: pos.Offset, Digest: pos.Digest,
		Evolve: c.machine.Version(), State: raw,
	}, nil
}

// record appends and syncs: the commit point.
func (s *run[S, F, E]) record(held *locks.Held, j durable.File, line []byte, last journal.Position) error {
	s.opts.Hook(PointBeforeAppend)
	// As late as possible: the journal was opened after the lock was taken, so
	// if the lock still lies at its path now, it is this journal's.
	if err := s.same(held); err != nil {
		return err
	}
	if err := journal.Append(j, last.End, line); err != nil {
		return s.appendError(err, last)
	}
	s.opts.Hook(PointAfterAppend)
	if err := j.Sync(); err != nil {
		return &UncertainError{fmt.Errorf("sync %s: %w", s.journalPath(), err)}
	}
	s.opts.Hook(PointAfterSync)
	return nil
}

func (s *run[S, F, E]) appendError(err error, last journal.Position) error {
	if moved := new(journal.MovedError); errors.As(err, &moved) {
		return &TwoWritersError{File: s.journalPath(), Line: last.Revision + 1, Why: moved.Error()}
	}
	if cut := new(journal.CutError); errors.As(err, &cut) {
		return &AppendError{cut.Err}
	}
	return &UncertainError{fmt.Errorf("append to %s: %w", s.journalPath(), err)}
}

// publishView writes state.json. The commit has succeeded whatever happens
// here: a view that is old is noticed by its length and made by the next
// writer. The journal's stamp is taken now, since all was written that it vouches for.
func (s *run[S, F, E]) publishView(v view) []Warning {
	// What writers left that died with nothing to repair, such as those of
	// prompts, which are written when the commit is over.
	_ = durable.RemoveDeadTemps(s.opts.Disk, s.dir)
	if s.opts.Watch {
		v.Stamp = s.stamp()
	}
	data, err := v.encode()
	if err == nil {
		err = durable.Publish(s.opts.Disk, s.viewPath(), data, filePerm)
	}
	if err != nil {
		return []Warning{{WarnViewNotWritten, "recorded, but " + err.Error()}}
	}
	return nil
}
