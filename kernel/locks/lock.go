package locks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Lock is one lock. It is not re-entrant. All methods may be called
// concurrently.
type Lock struct {
	path  string        // as given, for messages
	file  func() handle // a new one for each attempt: a lock belongs to an open file
	gates *gates        // the exclusion that the race detector sees
}

// handle is one attempt at the lock, in the end one holder of it.
type handle interface {
	try() (bool, error)
	lock() error // waits without limit
	unlock() error
	same() error
	key() any // while it is held: the same for every path to one lock
}

// Held is a lock that is held. It is valid until the work returns.
type Held struct{ file handle }

// Same is nil while the locked file still lies at its path, else a
// *ReplacedError. Ask right before writing what the lock protects.
func (h *Held) Same() error { return h.file.same() }

// Who decides what becomes of a lock that is had late.
const (
	waiting uint32 = iota
	used           // the waiting goroutine does the work, the caller waits for it
	givenUp        // the caller has gone, the lock is given back
)

// Do runs work while the lock is held, in the goroutine that got it: the
// caller's own if the lock was free, else one that waits in the kernel's queue.
// The caller waits for the work, for at most wait to get the lock (zero or
// less: not at all), or for the context. Once the work has begun its result is
// the result of Do, whatever the context says.
//
// Errors: *TimeoutError, the context's error as it is, *BadLockError, errors of
// opening the file; joined to the work's own error a *UnlockError.
func (l *Lock) Do(ctx context.Context, wait time.Duration, work func(*Held) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file := l.file()
	switch got, err := file.try(); {
	case err != nil:
		return fmt.Errorf("lock %s: %w", l.path, err)
	case got:
		return l.run(file, work)
	case wait <= 0:
		return &TimeoutError{Path: l.path, Wait: max(wait, 0)}
	}
	return l.queue(ctx, file, wait, work)
}

// queue waits for a busy lock.
//
// The lock may come at the very moment the caller gives up. One word decides:
//
//	waiter                        caller
//	lock() returns                timer fires
//	waiting→used: won             waiting→givenUp: lost
//	does the work                 waits for the work, returns its result
//
// or the other way round, and then the waiter gives the lock back unused. So
// work never runs behind the back of a caller that was told it did not.
func (l *Lock) queue(ctx context.Context, file handle, wait time.Duration, work func(*Held) error) error {
	var word atomic.Uint32
	done := make(chan ending, 1)
	go func() {
		// A work that ends its goroutine (t.FailNow) must not leave the caller
		// waiting for ever, and a panic is the caller's to meet.
		end := ending{err: errors.New("lock " + l.path + ": the work ended its goroutine")}
		defer func() {
			end.panic = recover()
			done <- end
		}()
		if err := file.lock(); err != nil {
			end.err = fmt.Errorf("lock %s: %w", l.path, err)
			return
		}
		if !word.CompareAndSwap(waiting, used) {
			end.err = file.unlock()
			return
		}
		end.err = l.run(file, work)
	}()

	timer := time.NewTimer(wait)
	defer timer.Stop()
	var gone error
	select {
	case end := <-done:
		return end.result()
	case <-ctx.Done():
		gone = ctx.Err()
	case <-timer.C:
		gone = &TimeoutError{Path: l.path, Wait: wait}
	}
	if word.CompareAndSwap(waiting, givenUp) {
		return gone
	}
	return (<-done).result()
}

// ending is how the goroutine that waited for the lock came to its end.
type ending struct {
	err   error
	panic any
}

// result is the work's error; its panic goes on in the caller.
func (e ending) result() error {
	if e.panic != nil {
		panic(e.panic)
	}
	return e.err
}

// run does the work and gives the lock back on every way out, a panic
// included. The pass is left before the lock, so it is free for whoever gets
// the lock next.
func (l *Lock) run(file handle, work func(*Held) error) (err error) {
	defer func() {
		if uerr := file.unlock(); uerr != nil {
			err = errors.Join(err, &UnlockError{Path: l.path, Err: uerr})
		}
	}()
	p := l.gates.pass(file.key())
	p.enter()
	defer p.leave()
	return work(&Held{file: file})
}
