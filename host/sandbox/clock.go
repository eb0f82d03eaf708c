package sandbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// errStopped ends a guest from inside a host function: one that only calls the
// host has no loop in which wazero would look at the context.
var errStopped = errors.New("stopped at the deadline")

// gate is passed by every host function of ours.
func gate(ctx context.Context) {
	if ctx.Err() != nil {
		panic(errStopped)
	}
}

// clock is the guest's only time: it begins at the request's now, moves by a
// microsecond with each look, and by what the guest sleeps. So sleeping costs
// nothing and equal calls see equal times.
type clock struct {
	ctx     context.Context
	start   time.Time
	elapsed time.Duration
}

const (
	look     = time.Microsecond
	farthest = 250 * 365 * 24 * time.Hour // sleeping adds up to this much: no sum overflows
	booted   = time.Second                // the monotonic clock never shows zero, which Go takes as broken
)

func (c *clock) advance(d time.Duration) {
	gate(c.ctx)
	c.elapsed += min(max(d, 0), farthest-c.elapsed)
}

func (c *clock) walltime() (sec int64, nsec int32) {
	c.advance(look)
	t := c.start.Add(c.elapsed)
	return t.Unix(), int32(t.Nanosecond())
}

func (c *clock) nanotime() int64 {
	c.advance(look)
	return int64(booted + c.elapsed)
}

func (c *clock) nanosleep(ns int64) { c.advance(time.Duration(ns)) }

func (c *clock) yield() { gate(c.ctx) }

// dice is the guest's random source: the same seed, the same bytes.
type dice struct {
	ctx context.Context
	src *rand.ChaCha8
}

func (d dice) Read(p []byte) (int, error) {
	gate(d.ctx)
	return d.src.Read(p)
}
