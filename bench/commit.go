package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/kernel/durable"
)

// syncsPerAdvance counts, through the disk interface, what ten reports wait
// for.
func syncsPerAdvance(b *bed) ([]row, error) {
	p, err := b.makeProject("syncs", smallConfig(plainType), missionType{name: plainType, steps: 20})
	if err != nil {
		return nil, err
	}
	if err := p.start(b.ctx, plainSlug(0), plainType); err != nil {
		return nil, err
	}
	disk := &durable.Faulty{Disk: durable.OS()}
	o := runner.Options{Root: p.root}
	o.Commit.Disk = disk
	lib, err := runner.Open(o)
	if err != nil {
		return nil, err
	}
	counted := &project{root: p.root, lib: lib}
	const advances = 10
	for range advances {
		if err := counted.report(b.ctx, plainSlug(0)); err != nil {
			return nil, errors.Join(err, lib.Close())
		}
	}
	syncs := float64(disk.Kind("sync")+disk.Kind("syncdir")) / advances
	return []row{{Group: "syncs", What: "syncs per advance", Value: syncs, Bar: 1, Kind: exactly,
		Detail: fmt.Sprintf("%d calls on the disk per advance", disk.Count()/advances)}}, lib.Close()
}

// commitRows compares one process that commits with one floor that steps.
func commitRows(b *bed) ([]row, error) {
	c, err := b.makeClaimed("one")
	if err != nil {
		return nil, err
	}
	floor, err := b.floorWorkers("floor-one", c, 1)
	if err != nil {
		return nil, err
	}
	ours, err := b.claimWorkers(c, 1)
	if err != nil {
		return nil, err
	}
	flush()
	if err := b.loads(max(b.opts.rounds/10, 5), b.length(), floor, ours); err != nil {
		return nil, err
	}
	return []row{{Group: "commit", What: "commits in process, of the floor's steps per second", Value: ours.rate() / floor.rate(), Unit: "x", Bar: 0.7, Kind: atLeast,
		Detail: fmt.Sprintf("%.0f and %.0f per second", ours.rate(), floor.rate())}}, nil
}

// length is how long workers commit in each round.
func (b *bed) length() time.Duration {
	if b.opts.quick {
		return 300 * time.Millisecond
	}
	return 600 * time.Millisecond
}
