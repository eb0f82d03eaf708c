package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/worktree"
)

// Request asks for a tick.
type Request struct {
	Loop   string
	Who    string
	ByHand bool // fired by a person: not held against slots and gaps
	Zone   *time.Location
}

// running is a tick that has the loop: from its claim to its outcome it holds no
// lock, and each of its commits is conditioned on its token.
type running struct {
	*opened
	by      loop.By
	uid     string
	token   uint64
	src     Source
	folder  *runFolder
	base    worktree.Commit // what the work begins at
	result  worktree.Commit // what it left
	began   time.Time
	usage   loop.Usage
	untold  string       // why what it told of that could not be read
	unkept  string       // what it left that does not count, in words
	verdict string       // digest of the verifier's answer
	met     bool         // the goal is met with it
	aside   []Warning    // of what was moved out of the way of its worktrees
	group   atomic.Int64 // of the program that runs now
}

// conclusion ends a run: by a transition that is still to be committed, or by the
// events of one that was.
type conclusion struct {
	by     transition
	events []loop.Event
}

func conclude(by transition) *conclusion {
	if by == nil {
		return nil
	}
	return &conclusion{by: by}
}

// Tick is one firing: it takes the loop one run further, or says why not. It holds
// the lock for single commits only. A tick that was begun by a run itself is
// refused. Errors are refusals of the loop, *GoneError, and those of the commit
// core; what went wrong with notices meanwhile is in the report beside a refusal too.
func (l *Loops) Tick(ctx context.Context, q Request) (Report, error) {
	by := l.by(q.Who)
	if by.Inside != "" {
		return Report{}, &loop.Refusal{Code: loop.NestedTick, Message: "a tick from inside a run (" + by.Inside + ") is not allowed: a run does not start runs"}
	}
	o, err := l.open(ctx, q.Loop)
	if err != nil {
		return Report{}, err
	}
	defer o.close()
	l.hook(PointRead)
	if err := o.reap(ctx, by); err != nil {
		return Report{}, err
	}
	src, err := l.ground.Source(q.Loop)
	if err != nil {
		if _, untold := o.commit(ctx, loop.NoteInvalid{By: by, Detail: err.Error()}); untold != nil && !errors.As(untold, new(*loop.Refusal)) {
			err = fmt.Errorf("%w; and that could not be noted: %v", err, untold)
		}
		return Report{}, err
	}
	if err := l.ground.Trusted(src); err != nil {
		return Report{}, err
	}
	report, err := o.tick(ctx, by, src, q)
	if err == nil || errors.As(err, new(*loop.Refusal)) {
		o.notify(context.WithoutCancel(ctx), by, src, &report)
	}
	return report, err
}

// by is who calls, and from inside of which run.
func (l *Loops) by(who string) loop.By {
	by := loop.By{Who: who}
	uid, token, ok := marked(l.getenv(variable))
	if !ok { // it may have been left out, by one that still has it
		uid, token, ok = marked(l.host.Above())
	}
	if ok {
		by.Inside = cmp.Or(l.getenv("SPEC_KITTY_LOOP"), "a loop") + ", run " + token + " of " + uid
	}
	return by
}

func (o *opened) tick(ctx context.Context, by loop.By, src Source, q Request) (Report, error) {
	out, err := o.commit(ctx, loop.ClaimLoop{
		By: by, Runner: o.l.host.runner(o.l.now().UTC()), Definition: src.Definition, Digest: src.Digest, ByHand: q.ByHand, Zone: q.Zone,
	})
	if err != nil {
		return Report{}, err
	}
	c := o.state.Claim
	if !claimed(out.Events) {
		report := o.told(out.Events)
		report.warn(out.Warnings)
		return report, nil
	}
	o.l.hook(PointClaimed)
	folder, err := o.l.openRun(o.name, c.Token)
	if err != nil {
		return o.unplaced(ctx, by, err)
	}
	defer folder.close()
	r := &running{opened: o, by: by, uid: o.state.UID, token: c.Token, src: src, folder: folder, began: o.l.now()}
	if err := folder.room(); err != nil {
		return r.end(ctx, loop.FailRun{Tick: r.mine(), Why: "run_folder", Detail: err.Error()})
	}
	work, done, err := o.keepAlive(ctx, folder)
	if err != nil {
		return r.end(ctx, loop.FailRun{Tick: r.mine(), Why: "run_folder", Detail: err.Error()})
	}
	defer done()
	report, err := r.phases(work)
	report.warn(out.Warnings)
	return report, err
}

func claimed(events []loop.Event) bool {
	for _, e := range events {
		if _, ok := e.(loop.Claimed); ok {
			return true
		}
	}
	return false
}

// phases goes through a run. Each phase ends it, or hands on to the next.
func (r *running) phases(ctx context.Context) (Report, error) {
	if grant := r.state.Claim.Grant; grant != nil && grant.Subject.Stage == loop.ToLand {
		return r.landGranted(ctx, *grant)
	}
	for _, phase := range []func(context.Context) (*conclusion, error){r.gate, r.prepare, r.askStart, r.work, r.verify, r.askLand} {
		end, err := phase(ctx)
		if report, over, err := r.over(ctx, end, err); over {
			return report, err
		}
	}
	return r.land(ctx)
}

// over ends the run where a phase says so: by its conclusion, by an error, or by
// what ended its programs.
func (r *running) over(ctx context.Context, end *conclusion, failed error) (report Report, over bool, err error) {
	switch {
	case end != nil && end.by == nil:
		report = r.told(end.events)
		return report, true, nil
	case ctx.Err() != nil:
		end = conclude(r.stopped(context.Cause(ctx)))
		failed = context.Cause(ctx)
	case refusedAs(failed, loop.IsCanceled):
		end = conclude(loop.CancelRun{Tick: r.mine(), Usage: r.used()})
	case errors.As(failed, new(*loop.Refusal)):
		end = nil
	case failed != nil:
		end = conclude(r.failure(failed))
	}
	if end == nil && failed == nil {
		return report, false, nil
	}
	if end == nil {
		report, err = r.lost(failed)
	} else {
		report, err = r.end(ctx, end.by)
	}
	return report, true, err
}

// mine names this tick's claim.
func (r *running) mine() loop.Tick { return loop.Tick{By: r.by, UID: r.uid, Token: r.token} }

// used is what the run used until now.
func (r *running) used() loop.Usage {
	u, _ := r.usageNow()
	return u
}

// usageNow is used, and why what the work told could not be read.
func (r *running) usageNow() (loop.Usage, error) {
	u, err := usageOf(readIn(r.folder.root, usageName))
	u.Time = loop.Span(r.l.now().Sub(r.began))
	return u, err
}

// end commits an outcome. It is tried until the lease is over: a full disk or a
// busy lock passes. What cannot be committed then is left beside the run for
// whoever reaps it.
func (r *running) end(ctx context.Context, t transition) (Report, error) {
	ctx = context.WithoutCancel(ctx)
	r.l.hook(PointEnding)
	until := r.l.host.Up() + time.Duration(r.rules().Lease)
	unsure := false // whether the outcome is on record
	for {
		out, err := r.commit(ctx, t)
		unsure = unsure || errors.As(err, new(*commit.UncertainError))
		switch {
		case err == nil:
			r.l.hook(PointFinished)
			report := r.told(out.Events)
			report.warn(out.Warnings)
			r.tellEscaped(&report)
			report.Warnings = append(report.Warnings, r.aside...)
			r.prune(ctx, &report)
			return report, nil
		case unsure && refusedAs(err, loop.StaleToken) && r.recorded():
			r.l.hook(PointFinished)
			return r.told(r.outcome()), nil
		case errors.As(err, new(*loop.Refusal)):
			return r.lost(err)
		case !passing(err) || r.l.host.Up() > until:
			if left := r.leave(t); left != nil {
				err = fmt.Errorf("%w; and the outcome could not be kept beside the run: %v", err, left)
			}
			return Report{}, err
		}
		pauseFor(time.Second)
	}
}

// recorded tells whether the run ended by our own outcome, of which the disk had not
// said that it lasts: the next try made it last before it was refused.
func (r *running) recorded() bool {
	last := r.state.Last.Run
	return last != nil && last.Token == r.token && !last.Recovered
}

// outcome is what the state says of the run's end, as events.
func (r *running) outcome() []loop.Event {
	events := []loop.Event{*r.state.Last.Run}
	if h := r.state.Halt; h != nil && h.Token == r.token {
		events = append(events, loop.HaltSet{Code: h.Code, Detail: h.Detail, Token: h.Token})
	}
	if d := r.state.Done; d != nil && d.Token == r.token {
		events = append(events, loop.GoalMet{Token: d.Token})
	}
	return events
}

// tellEscaped reports processes of the run that left its group, and so were not
// ended with it. They are not killed: what they have become is not known.
func (r *running) tellEscaped(report *Report) {
	if left := escaped(mark(r.uid, r.token)); len(left) > 0 {
		report.Warnings = append(report.Warnings, Warning{"escaped_process",
			fmt.Sprintf("processes of run %d left its session and are still there: %v; what they write to files cannot be fenced", r.token, left)})
	}
}

// rules are those of the claim, or of the definition where the claim is gone.
func (r *running) rules() loop.Rules {
	if c := r.state.Claim; c != nil {
		return c.Rules
	}
	return r.src.Rules()
}

// passing tells whether a commit may succeed if it is tried again.
func passing(err error) bool {
	return errors.As(err, new(*commit.LockTimeoutError)) || errors.As(err, new(*commit.AppendError)) || errors.As(err, new(*commit.UncertainError))
}

func pauseFor(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}
