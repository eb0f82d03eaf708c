package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/bench/internal/load"
)

// loads lets the crews work one after the other, in an order shuffled anew in
// each round.
func (b *bed) loads(n int, length time.Duration, crews ...*crew) error {
	for range n {
		rand.Shuffle(len(crews), func(i, j int) { crews[i], crews[j] = crews[j], crews[i] })
		for _, c := range crews {
			results, err := c.work(b.ctx, length)
			if err != nil {
				return err
			}
			c.rounds = append(c.rounds, results)
		}
	}
	return nil
}

// crew is workers that are let go together, and what they did in each round.
type crew struct {
	work   func(ctx context.Context, length time.Duration) ([]load.Result, error)
	rounds [][]load.Result
}

// rate is the median over the rounds of commits per second, all workers
// together.
func (c *crew) rate() float64 {
	var took []int64 // nanoseconds for one commit
	for _, round := range c.rounds {
		var rate float64
		for _, r := range round {
			rate += float64(r.Done) / float64(r.Took)
		}
		took = append(took, int64(1/rate))
	}
	return 1e9 / float64(median(took))
}

// waits are all waits for the lock, in nanoseconds.
func (c *crew) waits() []int64 {
	var all []int64
	for _, round := range c.rounds {
		for _, r := range round {
			all = append(all, r.Waits...)
		}
	}
	return all
}

// hold is the mean time for which the lock was held, in nanoseconds.
func (c *crew) hold() float64 {
	var holds, done float64
	for _, round := range c.rounds {
		for _, r := range round {
			holds += float64(r.Holds)
			done += float64(r.Done)
		}
	}
	return holds / done
}

// poorest is the least that a worker did in any round, in means of its round.
func (c *crew) poorest(did func(load.Result) int) float64 {
	poorest := 1.0
	for _, round := range c.rounds {
		least, sum := did(round[0]), 0
		for _, r := range round {
			least, sum = min(least, did(r)), sum+did(r)
		}
		poorest = min(poorest, float64(least*len(round))/float64(sum))
	}
	return poorest
}

func done(r load.Result) int { return r.Done }

// processes is a crew of worker processes, started anew in each round and held
// at a barrier until all are ready.
func processes(argv func(worker int, seconds string) []string, n int) *crew {
	return &crew{work: func(ctx context.Context, length time.Duration) ([]load.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // ends those that an error leaves
		seconds := strconv.FormatFloat(length.Seconds(), 'f', 3, 64)
		workers := make([]*worker, n)
		for i := range workers {
			var err error
			if workers[i], err = startWorker(ctx, argv(i, seconds)); err != nil {
				return nil, err
			}
		}
		return letGo(workers)
	}}
}

func letGo(workers []*worker) ([]load.Result, error) {
	for _, w := range workers {
		if err := w.ready(); err != nil {
			return nil, err
		}
	}
	for _, w := range workers {
		if _, err := w.in.Write([]byte{'\n'}); err != nil {
			return nil, err
		}
	}
	results, errs := make([]load.Result, len(workers)), make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() { results[i], errs[i] = w.result() })
	}
	all.Wait()
	return results, errors.Join(errs...)
}

// worker is a process that runs load.Loop.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startWorker(ctx context.Context, argv []string) (*worker, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &worker{cmd: cmd, in: in, out: bufio.NewReader(out)}, cmd.Start()
}

func (w *worker) ready() error {
	line, err := w.out.ReadString('\n')
	if err == nil && line != "ready\n" {
		err = fmt.Errorf("a worker is not ready, it says %q", line)
	}
	return err
}

func (w *worker) result() (load.Result, error) {
	var r load.Result
	err := json.NewDecoder(w.out).Decode(&r)
	return r, errors.Join(err, w.cmd.Wait())
}
