package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spec-kitty/step-runner/bench/internal/load"
	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/cursor"
)

// workerWord makes this program a worker process:
//
//	bench claims ROOT SLUG AGENT SECONDS
//
// takes packages and gives them back, each one commit, for so long after the
// barrier.
const workerWord = "claims"

func workerMain(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("a worker needs ROOT SLUG AGENT SECONDS, not %q", args)
	}
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return err
	}
	r, err := claimLoop(args[0], args[1], args[2], time.Duration(seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	return r.Print()
}

func claimLoop(root, slug, name string, length time.Duration) (load.Result, error) {
	var locked, unlocking func()
	o := commit.Options{LockTimeout: time.Minute, Hook: func(point string) {
		switch point {
		case commit.PointLockAcquired:
			locked()
		case commit.PointBeforeRelease:
			unlocking()
		}
	}}
	ctx := context.Background()
	store, err := newCatalog(root, claimFacts(), o).Lookup(ctx, slug)
	if err != nil {
		return load.Result{}, err
	}
	defer store.Close()
	if err := load.Barrier(); err != nil {
		return load.Result{}, err
	}
	var held *cursor.State // nil: the agent holds nothing
	r, err := load.Loop(length, func(got, unlock func()) error {
		locked, unlocking = got, unlock
		if held == nil {
			out, err := store.Commit(ctx, claim(name))
			held = &out.State
			return wants(out, err)
		}
		out, err := store.Commit(ctx, giveBack(name, *held))
		held = nil
		return wants(out, err)
	})
	if err == nil && held != nil { // the next round begins with nothing held
		_, err = store.Commit(ctx, giveBack(name, *held))
	}
	return r, err
}

// wants has every attempt committed: a refusal would be cheaper.
func wants(out outcome, err error) error {
	if err == nil && !out.Committed {
		err = fmt.Errorf("nothing was committed at revision %d", out.Revision)
	}
	return err
}

// claimWorkers is a crew of n processes that claim on one run.
func (b *bed) claimWorkers(c claimed, n int) (*crew, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return processes(func(i int, seconds string) []string {
		return []string{self, workerWord, c.root, c.slug, agentName(i), seconds}
	}, n), nil
}

// floorWorkers is a crew of n floors in one folder.
func (b *bed) floorWorkers(name string, c claimed, n int) (*crew, error) {
	path, err := b.build("./bench/floor")
	if err != nil {
		return nil, err
	}
	dir, err := b.floorDir(name, c.state, c.line)
	if err != nil {
		return nil, err
	}
	return processes(func(_ int, seconds string) []string { return []string{path, dir, seconds} }, n), nil
}
