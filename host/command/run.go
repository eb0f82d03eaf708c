package command

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// unkillable is how long Run waits for the end of what it killed: a process that
// hangs in the kernel cannot be ended by anybody.
const unkillable = 5 * time.Second

// Run runs a command to its end. It returns when the program has ended and its
// group is gone, at the latest a few seconds after its time and KillGrace. It
// has no error: that a program could not be started is a result like others.
func Run(ctx context.Context, c Command) Result {
	c = c.filled()
	begun := time.Now()
	if err := context.Cause(ctx); err != nil {
		return Result{End: Canceled, Exit: -1, Err: err}
	}
	err := c.check()
	var program string
	if err == nil {
		program, err = find(c.Argv[0])
	}
	if err != nil {
		return Result{End: NotStarted, Exit: -1, Err: err}
	}
	w, err := watch(c)
	if err != nil {
		return Result{End: NotStarted, Exit: -1, Err: err, Duration: time.Since(begun)}
	}
	defer w.end()
	p, err := start(w.over(c), program)
	if err != nil {
		return Result{End: NotStarted, Exit: -1, Err: err, Duration: time.Since(begun)}
	}
	return p.result(p.await(ctx, c), begun)
}

// find looks up a program's name as a shell does, in our own PATH: a program
// that gets no PATH is found all the same. One with a slash lies where it says,
// seen from the command's folder.
func find(name string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.Base(name) != name {
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// running is a program at work.
type running struct {
	proc    *process
	streams *streams
}

// start makes the process. Once it returns without error there is something to
// be waited for.
func start(c Command, program string) (*running, error) {
	s, err := openStreams(c)
	if err != nil {
		return nil, err
	}
	proc, err := launch(c, program, s.child)
	s.closeChild()
	if err != nil {
		s.abandon()
		return nil, err
	}
	s.serve(c.Stdin)
	return &running{proc: proc, streams: s}, nil
}

// ending is why we ended a program; the zero ending: we did not.
type ending struct {
	end End
	err error
}

// await returns when the program has ended, by itself or by us.
func (p *running) await(ctx context.Context, c Command) ending {
	timer := time.NewTimer(c.Timeout)
	defer timer.Stop()
	var why ending
	select {
	case <-p.proc.ended:
		return ending{}
	case <-timer.C:
		why = ending{end: TimedOut}
	case <-ctx.Done():
		why = ending{Canceled, context.Cause(ctx)}
	}
	if within(p.proc.ended, 0) {
		return ending{} // it was faster
	}
	p.proc.terminate()
	if !within(p.proc.ended, c.KillGrace) {
		p.proc.kill()
		within(p.proc.ended, unkillable)
	}
	return why
}

// within waits for a channel to be closed and tells whether it was in time.
func within(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func (p *running) result(why ending, begun time.Time) Result {
	r := Result{End: why.end, Err: why.err, Exit: -1, Duration: time.Since(begun)}
	gone := within(p.proc.reaped, 2*unkillable)
	r.Stdout, r.Stderr, r.Held = p.streams.finish()
	if !gone {
		r.Unkillable = true
		return r
	}
	r.Duration, r.Leftovers, r.Unkillable = p.proc.endedAt.Sub(begun), p.proc.leftovers, p.proc.unkillable
	if r.End == "" {
		r.End, r.Exit, r.Signal = p.proc.outcome()
	}
	return r
}

// errHeldBack is the cause of a program that its caller kept from running.
var errHeldBack = errors.New("it was kept from running")
