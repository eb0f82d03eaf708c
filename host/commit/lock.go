package commit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spec-kitty/step-runner/kernel/locks"
)

// locked runs work while a lock is held. Where the lock cannot be had work did not
// run, and the error says why; else the error is work's own. That the lock cannot
// be given back is a warning: work has its result, and only the lock stays until
// the process ends.
func (c *core[S, F, E]) locked(ctx context.Context, lock *locks.Lock, work func(*locks.Held) error) ([]Warning, error) {
	var result error
	done := false
	err := lock.Do(ctx, max(c.opts.LockTimeout, 0), func(held *locks.Held) error {
		result = work(held)
		done = true
		return result
	})
	switch {
	case done:
		return unlockWarning(err), result
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoRun // the file is made in a folder that is not made anew
	}
	return nil, lockError(err)
}

func unlockWarning(err error) []Warning {
	if unlock := new(locks.UnlockError); errors.As(err, &unlock) {
		return []Warning{{WarnUnlock, unlock.Error()}}
	}
	return nil
}

// lockError gives what keeps a lock from being had this package's classes.
func lockError(err error) error {
	if t := new(locks.TimeoutError); errors.As(err, &t) {
		return &LockTimeoutError{Path: t.Path, Wait: t.Wait}
	}
	if bad := new(locks.BadLockError); errors.As(err, &bad) {
		return &DamagedError{File: bad.Path, Why: "bad_lock: it is " + bad.Kind() + ", not a file", Fix: "remove it and call again, the lock is made anew"}
	}
	return err
}
