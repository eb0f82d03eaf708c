package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
)

// reading is a run as one call sees it: first as it was read without the lock,
// then as each commit left it.
type reading struct {
	p        *Project
	mission  lanes.Mission
	run      *run // nil: the mission has no run
	state    cursor.State
	facts    cursor.Facts
	recorded bool // something of this call is committed
	replayed bool
	planned  bool
	answered *cursor.Give  // the answer that this call gave
	asOf     time.Time     // what plugins are told of the time; see clock
	verdict  *driftVerdict // to be kept by the next write
	whole    bool          // all there is to know is shown, also what was shown before
	warnings []Warning
}

// read reads a mission's run. It takes no lock and writes nothing. Without a
// run it gives a reading that has none; where the run is known and its folder is
// gone, that is the error.
func (p *Project) read(ctx context.Context, handle string) (*reading, error) {
	m, err := p.mission(ctx, handle)
	if err != nil {
		return nil, err
	}
	r := &reading{p: p, mission: m}
	r.run, err = p.lookup(ctx, m)
	if errors.Is(err, commit.ErrNoRun) && !errors.As(err, new(*commit.GoneError)) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	snap, err := r.run.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.see(snap); err != nil {
		return nil, err
	}
	r.drifts()
	return r, nil
}

// see takes over a state and reads the facts beside it.
func (r *reading) see(snap snapshot) error {
	r.state = snap.State
	def, err := r.run.view(snap.State)
	if err != nil {
		return err
	}
	r.warnings = slices.DeleteFunc(r.warnings, func(w Warning) bool { return isUnpublished(w) || isLaneFault(w) }) // of the state before
	for _, w := range snap.Warnings {
		r.warn(w.Code, w.Message)
	}
	r.facts = r.p.world.read(r.run, def, snap.State)
	r.warnUnpublished()
	if r.facts.Fault != nil {
		r.warn(WarnUnreadable, r.facts.Fault.Error())
	}
	for _, w := range r.laneLog().Warnings {
		r.warn(w.Code, w.Message)
	}
	for _, f := range r.p.world.laneFaults(r.run, r.state, r.facts) {
		r.warn(f.Code, f.Message+": "+f.Fix)
	}
	return nil
}

// laneLog is the lane log of the mission, where its lanes lie there. It was
// just read, so it is not read again.
func (r *reading) laneLog() lanes.Log {
	if r.facts.Fault != nil || r.state.SourceOf(r.facts) != cursor.KittySpecs {
		return lanes.Log{}
	}
	log, _ := r.run.lanes.Read() // its error was the facts' fault
	return log
}

// clock is the time that the plugins of this call are told: all the same, and
// for a saved plan the one of its making, so that they answer alike. It is no
// finer than a request writes it, so that a replay can tell them the same.
func (r *reading) clock() time.Time {
	if r.asOf.IsZero() {
		r.asOf = r.p.now().UTC().Truncate(time.Microsecond)
	}
	return r.asOf
}

func (r *reading) warn(code, message string) {
	for _, w := range r.warnings {
		if w.Code == code && w.Message == message {
			return
		}
	}
	r.warnings = append(r.warnings, Warning{Code: code, Message: message})
}

// commit hands a transition to the commit core and takes over the state that it
// left, or saw where it refused.
func (r *reading) commit(ctx context.Context, t transition) error {
	if err := r.run.mendIndex(); err != nil {
		r.warn(commit.WarnViewNotWritten, "the definition's index could not be made anew: "+err.Error())
	}
	out, err := r.run.store.Commit(ctx, t)
	if out.Committed {
		r.noteLog(out.Events)
		r.rememberDrift() // what is refused leaves no trace
	}
	r.p.hook(PointCommitted)
	if out.ID != "" {
		err = errors.Join(err, r.see(out.Snapshot))
	}
	if err != nil {
		return err
	}
	r.recorded = r.recorded || out.Committed
	if _, report := t.(cursor.Report); report && !out.Committed {
		r.recorded, r.replayed = true, true
	}
	return nil
}
