//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// heard keeps a signal that nobody else listens to from ending the tests, and gives it.
func heard(t *testing.T) <-chan os.Signal {
	t.Helper()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM)
	t.Cleanup(func() { signal.Stop(caught) })
	return caught
}

func terminate(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func TestSignalsCancelWhoWaits(t *testing.T) {
	heard(t)
	ctx, stop := withSignals(t.Context())
	defer stop()
	done := ctx.Done() // it listens now, however long the call took until here
	terminate(t)
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a termination does not cancel the context of a call that waits")
	}
	var caught *signalError
	if !errors.As(context.Cause(ctx), &caught) || caught.code != codeTerminated {
		t.Errorf("the cause is %v, want %s", context.Cause(ctx), codeTerminated)
	}
}

// A context that something waits for is derived from one that listens.
func TestSignalsCancelDerivedContexts(t *testing.T) {
	heard(t)
	ctx, stop := withSignals(t.Context())
	defer stop()
	derived, end := context.WithTimeout(context.WithValue(ctx, t, 1), time.Minute)
	defer end()
	terminate(t)
	<-derived.Done()
	if context.Cause(derived) == context.DeadlineExceeded {
		t.Error("a termination does not cancel a context that was derived")
	}
}

func TestSignalsAreHeardByLongCalls(t *testing.T) {
	delivered := heard(t)
	ctx, stop := withSignals(t.Context())
	defer stop()
	for until := time.Now().Add(time.Minute); ctx.Err() == nil; { // nobody asks for its end
		if time.Now().After(until) {
			t.Fatal("a call that nobody waits in never listens")
		}
		terminate(t)
		<-delivered
	}
}

func TestSignalsAreNotHeardAfterTheEnd(t *testing.T) {
	heard(t)
	ctx, stop := withSignals(t.Context())
	stop()
	s := ctx.(*signals)
	s.listen() // as the timer does where it is late
	if s.caught != nil {
		t.Error("a call that is over listens again")
	}
}
