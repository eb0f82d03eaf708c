package commit

import (
	"errors"
	"fmt"

	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/journal"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// repair makes the last good record durable and the journal's end, and the
// view its equal. It comes before anything is decided: what is decided may be
// "already so", and that must not acknowledge a record which the disk does not
// have. And as every writer comes this way, at most one record is ever not
// durable, so writing the last one again is enough.
func (s *run[S, F, E]) repair(j durable.File, held *locks.Held, l loaded[S]) ([]Warning, error) {
	// Temporary files here are a dead writer's, or those of one who publishes
	// a prompt and will notice. If they cannot be removed they only take space.
	_ = durable.RemoveTemps(s.opts.Disk, s.dir)
	rec, ok, err := journal.At(j, l.pos.Offset, l.pos.End)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &TwoWritersError{File: s.journalPath(), Line: l.pos.Revision, Why: "the record changed while the lock was held"}
	}
	view, err := s.view(l.pos, l.subject, l.state)
	if err != nil {
		return nil, err
	}
	if err := s.same(held); err != nil {
		return nil, err
	}
	if err := journal.Mend(j, rec); err != nil {
		err = fmt.Errorf("repair %s: %w", s.journalPath(), err)
		if failed := new(journal.SyncError); errors.As(err, &failed) {
			return nil, &UncertainError{err}
		}
		return nil, &AppendError{err}
	}
	warnings := s.publishView(view)
	s.opts.Hook(PointRepaired)
	return warnings, nil
}
