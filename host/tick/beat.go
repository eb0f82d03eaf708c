package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
)

const beatName = "beat"

// watchEvery is how often a runner looks at the state for a cancel or a token
// that is not its own any more. A look reads the view, takes no lock and costs
// less than a millisecond.
const watchEvery = 300 * time.Millisecond

// Causes that end a run's programs before their time.
var (
	errCanceled  = errors.New("an operator canceled the run")
	errOvertaken = errors.New("the token is another tick's now")
	errGone      = errors.New("the loop's folder is gone")
	errFenced    = errors.New("no heartbeat could be written, so the work was stopped before anybody may take over")
	errFlood     = fmt.Errorf("a program wrote more than %d MiB of output, so it was stopped before the disk is full: have it write less", maxLog>>20)
	errIdle      = errors.New("the work gave no output and used no processor time for too long")
)

// limitError ends a run that crossed a limit.
type limitError struct{ loop.Crossing }

func (e *limitError) Error() string { return string(e.Code) + ": " + e.Detail }

// pulse keeps a claim alive while its runner works, and ends the work where the
// claim cannot be kept. Nothing of it takes the lock.
type pulse struct {
	o      *opened
	folder *runFolder
	token  uint64
	uid    string
	lease  time.Duration
	stop   context.CancelCauseFunc
	up     time.Duration // of the newest heartbeat
	awake  time.Duration
}

// keepAlive begins the heartbeats of a claim. The context that it gives ends with
// a cause of its own where the work has to end; done ends the heartbeats and waits
// for them.
func (o *opened) keepAlive(ctx context.Context, folder *runFolder) (work context.Context, done func(), err error) {
	c := o.state.Claim
	p := &pulse{o: o, folder: folder, token: c.Token, uid: o.state.UID, lease: time.Duration(c.Rules.Lease)}
	if err := p.beat(); err != nil {
		return nil, nil, err
	}
	work, p.stop = context.WithCancelCause(ctx)
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.run(alive)
	}()
	return work, func() {
		end()
		<-ended
		p.stop(nil)
	}, nil
}

func (p *pulse) run(ctx context.Context) {
	every := min(watchEvery, p.lease/10)
	timer := time.NewTicker(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if cause := p.once(ctx); cause != nil {
			p.stop(cause)
			if !errors.Is(cause, errCanceled) && !errors.Is(cause, errFlood) {
				return
			}
		}
	}
}

// once does what the lease asks for now, then looks at the state. The heartbeat
// comes first: a runner that woke from a sleep tries one before it gives up, and
// the look then says whether somebody was faster.
func (p *pulse) once(ctx context.Context) error {
	since, awake := p.o.l.host.Up()-p.up, p.o.l.host.Awake()-p.awake
	switch loop.PulseAt(p.lease, since, max(0, since-awake)) {
	case loop.DoBeat:
		if err := p.beat(); errors.Is(err, fs.ErrNotExist) {
			return errGone
		}
	case loop.BeatOrStop:
		if p.beat() != nil {
			return errFenced
		}
	case loop.StopWork:
		return errFenced
	}
	if p.folder.flooded() {
		return errFlood
	}
	return p.look(ctx)
}

func (p *pulse) beat() error {
	h := p.o.l.host
	up, awake := h.Up(), h.Awake()
	raw, err := json.Marshal(loop.Beat{Token: p.token, Boot: h.Boot, Up: loop.Span(up), At: p.o.l.now().UTC()})
	if err != nil {
		return err
	}
	if err := p.folder.replace(beatName, raw); err != nil {
		return fmt.Errorf("write the heartbeat: %w", err)
	}
	p.up, p.awake = up, awake
	return nil
}

// look reads the state without the lock. What cannot be read now may be read the
// next time; a claim that is lost meanwhile is noticed by the lease.
func (p *pulse) look(ctx context.Context) error {
	snap, err := p.o.store.Read(ctx)
	switch {
	case refusedAs(named(p.o.name, err), loop.Untracked, loop.LoopReplaced):
		return errGone
	case err != nil:
		return nil
	}
	s := snap.State
	switch {
	case s.UID != p.uid || s.Claim == nil || s.Claim.Token != p.token:
		return errOvertaken
	case s.Control.Cancel == p.token:
		return errCanceled
	}
	return nil
}
