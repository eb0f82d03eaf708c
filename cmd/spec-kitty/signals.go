package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spec-kitty/step-runner/host/runner"
)

// signalError is the cause of a context that a signal canceled.
type signalError struct{ code runner.Code }

func (e *signalError) Error() string { return string(e.code) }

// withSignals is a context that the first interrupt or termination cancels; the end of
// the terminal is a termination. The second one ends the process as if nobody
// listened. A signal that was ignored when the program started, as for a shell's
// background jobs and under nohup, stays ignored.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	go func() {
		select {
		case s := <-caught:
			signal.Stop(caught)
			code := codeInterrupted
			if s != os.Interrupt {
				code = codeTerminated
			}
			cancel(&signalError{code})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}
