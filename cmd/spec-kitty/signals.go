package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spec-kitty/step-runner/host/runner"
)

// signalError is the cause of a context that a signal canceled.
type signalError struct{ code runner.Code }

func (e *signalError) Error() string { return string(e.code) }

// shortCall is how long a call may take before it listens to signals without being asked.
const shortCall = 10 * time.Millisecond

// signals is a context that a signal cancels. It listens from the first moment that
// anything waits for its end, which all do that start a program, talk to a plugin or
// wait for a lock, and else when the call is no longer short. Listening costs a thread,
// a fourteenth of a whole next; a call that is over in milliseconds has nothing to be
// interrupted at: before it listens a signal ends the process as a kill does, which
// loses nothing.
type signals struct {
	context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex // guards caught and over
	caught chan os.Signal
	over   bool
}

// withSignals is a context that the first interrupt or termination cancels; the end of
// the terminal is a termination. The second one ends the process as if nobody
// listened. A signal that was ignored when the program started, as for a shell's
// background jobs and under nohup, stays ignored.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	s := &signals{}
	s.Context, s.cancel = context.WithCancelCause(parent)
	late := time.AfterFunc(shortCall, s.listen)
	return s, func() {
		late.Stop()
		s.end()
	}
}

// Done listens from now on.
func (s *signals) Done() <-chan struct{} {
	s.listen()
	return s.Context.Done()
}

func (s *signals) listen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caught != nil || s.over {
		return
	}
	s.caught = make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.caught, sig)
		}
	}
	go s.await(s.caught)
}

func (s *signals) await(caught chan os.Signal) {
	select {
	case sig := <-caught:
		signal.Stop(caught)
		code := codeInterrupted
		if sig != os.Interrupt {
			code = codeTerminated
		}
		s.cancel(&signalError{code})
	case <-s.Context.Done():
	}
}

// end stops listening, for good.
func (s *signals) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.caught != nil {
		signal.Stop(s.caught)
	}
	s.cancel(nil)
}
