package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/config"
	"github.com/spec-kitty/step-runner/kernel/durable"
	"github.com/spec-kitty/step-runner/kernel/locks"
)

// configLock is the file, in the state folder, whose lock keeps those calls apart
// that change the configuration.
const configLock = "config.lock"

// configTries bounds how often a change of the configuration begins anew because
// somebody saved the file meanwhile.
const configTries = 8

// errSaved says that the configuration is not any more what a change began with.
var errSaved = errors.New("somebody saved it meanwhile")

// changeConfig replaces the configuration by what change makes of its text, durably;
// a link to it stays a link. Where there is nothing to change it touches nothing. No
// other call changes the configuration meanwhile: it waits for lock_timeout, and makes
// the state folder, which the lock's file lies in. That does not keep out a person with
// an editor, so the text is compared once more right before the new one takes its place:
//
//	pin: reads the text         person: saves a sentence      pin: compares, begins anew
//
// change may be called more than once, the last time with the text that is replaced.
func changeConfig(ctx context.Context, cfg *config.Config, change func(text []byte) ([]byte, error)) error {
	file, err := filepath.EvalSymlinks(cfg.File)
	if err != nil {
		return err
	}
	before, err := config.ReadText(file)
	if err != nil {
		return err
	}
	if after, err := change(before); err != nil || bytes.Equal(before, after) {
		return err
	}
	return configAlone(ctx, cfg, func() error { return changeAlone(file, change) })
}

// configAlone does work while no other call changes the configuration.
func configAlone(ctx context.Context, cfg *config.Config, work func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := commit.MakeRoot(durable.OS(), cfg.StateRoot()); err != nil {
		return err
	}
	err := locks.At(filepath.Join(cfg.StateRoot(), configLock)).Do(ctx, cfg.Runtime.LockTimeout, func(*locks.Held) error { return work() })
	if errors.As(err, new(*locks.TimeoutError)) || errors.As(err, new(*locks.BadLockError)) {
		e := fail(CodeNotRecorded, "call again; nothing was changed in "+config.FileName, "%s", err)
		e.Err = err
		return e
	}
	return err
}

// changeAlone is changeConfig under the lock.
func changeAlone(file string, change func(text []byte) ([]byte, error)) error {
	for range configTries {
		before, err := config.ReadText(file)
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil || bytes.Equal(before, after) {
			return err
		}
		if err = replaceConfig(file, before, after); !errors.Is(err, errSaved) {
			return err
		}
	}
	return placed(fail(CodeNotRecorded, "call again when nobody saves it", "%s was saved by somebody each time it was about to be changed; nothing was changed in it", file), file, 0)
}

// replaceConfig replaces the configuration as a whole, if it still has the text before.
func replaceConfig(file string, before, after []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	_ = durable.RemoveDeadTempsOf(durable.OS(), file)
	err = durable.ReplaceIf(durable.OS(), file, after, info.Mode().Perm(), func() error {
		now, err := config.ReadText(file)
		if err == nil && !bytes.Equal(now, before) {
			err = errSaved
		}
		return err
	})
	if err != nil {
		return err
	}
	// The mode of a new file is cut by the process's mask.
	return os.Chmod(file, info.Mode().Perm())
}
