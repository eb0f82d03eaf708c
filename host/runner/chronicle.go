package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// chronicle folds a run's journal anew, record by record, up to the revision that
// was read: what others commit meanwhile is told by the commit that goes by this
// reading. after is called with the state that each record left; its error ends the
// walk.
func (r *reading) chronicle(ctx context.Context, after func(rec commit.Record[cursor.Event], s cursor.State) error) error {
	var s cursor.State
	err := r.run.store.Records(ctx, 1, func(rec commit.Record[cursor.Event]) error {
		switch {
		case rec.Revision > r.state.Revision:
			return errEnough
		case rec.Newer != "":
			return &commit.NewerFormatError{File: r.run.store.ID(), Line: rec.Revision, Why: rec.Newer}
		}
		meta := metaOf(rec.Meta)
		for _, e := range rec.Events {
			s = cursor.Evolve(s, meta, e.Event)
		}
		return after(rec, s)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// errEnough ends a walk through records that found what it looked for.
var errEnough = errors.New("enough was read")

// stateAfter is the run as it was after a revision, carried over to the
// definition that it goes by now.
func (r *reading) stateAfter(ctx context.Context, revision uint64) (cursor.State, error) {
	var then cursor.State
	found := false
	err := r.chronicle(ctx, func(rec commit.Record[cursor.Event], s cursor.State) error {
		if then = s; rec.Revision == revision {
			found = true
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil:
		return then, err
	case !found:
		return then, &cursor.Refusal{Code: cursor.NothingToRewind, Message: "the run has no revision " + utoa(revision)}
	case then.Definition == r.state.Definition:
		return then, nil
	}
	from, err := r.run.view(then)
	if err != nil {
		return then, err
	}
	return cursor.Carried(then, from, r.facts.Def)
}

// stillHolds refuses a revision that a rewind took back: what was completed and
// answered there does not hold, and a rewind gives nothing back.
func (r *reading) stillHolds(ctx context.Context, revision uint64) error {
	return r.run.store.Records(ctx, revision+1, func(rec commit.Record[cursor.Event]) error {
		to := rewoundTo(rec)
		switch {
		case rec.Revision > r.state.Revision:
			return nil
		case to == 0 || to >= revision || rec.Revision <= revision:
			return nil
		}
		return &cursor.Refusal{Code: cursor.NothingToRewind, Message: fmt.Sprintf(
			"the rewind of revision %d went back to revision %d and took revision %d back: a rewind gives nothing back. Name revision %d or one before it, "+
				"or do again what was taken back: report, answer or skip it", rec.Revision, to, revision, to)}
	})
}

// beforeCompletion is the revision before the one that completed a step, of the
// completion that holds now: one that was taken back since does not count.
func (r *reading) beforeCompletion(ctx context.Context, id string) (uint64, error) {
	pos, ok, err := r.facts.Def.Position(id)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, cursor.StepUnknown(r.facts.Def, id)
	case !r.state.Cursor.Done.Has(pos):
		return 0, &cursor.Refusal{Code: cursor.NothingToRewind, Message: "step " + id + " is not complete, so there is nothing of it to take back"}
	}
	completed := []uint64{0} // after each revision, the one that completed the step; 0: it is open
	err = r.chronicle(ctx, func(rec commit.Record[cursor.Event], s cursor.State) error {
		at := completed[len(completed)-1]
		done, err := r.wasDone(s, id)
		if err != nil {
			return err
		}
		switch back := rewoundTo(rec); {
		case back > 0 && back < uint64(len(completed)):
			at = completed[back]
		case !done:
			at = 0
		case at == 0:
			at = rec.Revision
		}
		completed = append(completed, at)
		return nil
	})
	if err != nil {
		return 0, err
	}
	switch at := completed[len(completed)-1]; at {
	case 0:
		return 0, &commit.DamagedError{File: "the journal of run " + r.state.Run, Why: "it ends before the state that was read of it"}
	case 1:
		return 0, &cursor.Refusal{Code: cursor.NothingToRewind, Message: "step " + id + " was complete when the run began, so there is nothing before it to go back to"}
	default:
		return at - 1, nil
	}
}

// wasDone tells whether a step was complete in a state, by the definition that
// the run went by then.
func (r *reading) wasDone(s cursor.State, id string) (bool, error) {
	def, err := r.run.view(s)
	if err != nil {
		return false, err
	}
	pos, ok, err := def.Position(id)
	return ok && s.Cursor.Done.Has(pos), err
}

// rewoundTo is the revision that a record went back to; 0 for any other record.
func rewoundTo(rec commit.Record[cursor.Event]) uint64 {
	for _, e := range rec.Events {
		if back, ok := e.Event.(cursor.Rewound); ok {
			return back.To
		}
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
