package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// warmups is how often each program runs before it is timed.
const warmups = 3

// program is one whole process that is timed again and again.
type program struct {
	name   string
	path   string
	args   func(n int) []string // of the n-th call, warm-ups included
	env    func(n int) []string // nil: an empty environment
	settle func(n int) error    // after each call, not timed; nil: nothing
	single bool                 // kept to one core, where canOneCore
	exit   int                  // the exit code that is wanted
	output *os.File             // what it printed last
	calls  int
	times  []time.Duration
}

// rounds runs every program once in each round, in an order shuffled anew.
func (b *bed) rounds(n int, programs ...*program) error {
	for _, p := range programs {
		output, err := os.CreateTemp(b.dir, "output-")
		if err != nil {
			return err
		}
		defer output.Close()
		p.output, p.times = output, nil
		for range warmups {
			if _, err := p.run(b.ctx); err != nil {
				return err
			}
		}
	}
	order := slices.Clone(programs)
	for range n {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, p := range order {
			took, err := p.run(b.ctx)
			if err != nil {
				return err
			}
			p.times = append(p.times, took)
		}
	}
	return nil
}

// run starts the program and waits for its end. Its output goes to a file, so
// that nothing of ours runs beside it.
func (p *program) run(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := p.output.Truncate(0); err != nil {
		return 0, err
	}
	if _, err := p.output.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	n := p.calls
	p.calls++
	attr := &os.ProcAttr{Env: []string{}, Files: []*os.File{nil, p.output, p.output}}
	if p.env != nil {
		attr.Env = p.env(n)
	}
	argv := append([]string{p.path}, p.args(n)...)
	var process *os.Process
	var begun time.Time
	start := func() (err error) {
		begun = time.Now()
		process, err = os.StartProcess(p.path, argv, attr)
		return err
	}
	begin := start
	if p.single {
		begin = func() error { return onOneCore(start) }
	}
	if err := begin(); err != nil {
		return 0, err
	}
	state, err := process.Wait()
	took := time.Since(begun)
	if err == nil && state.ExitCode() != p.exit {
		err = fmt.Errorf("%s: %v: %s", p.name, argv, state)
	}
	if err != nil {
		return took, errors.Join(err, p.complain())
	}
	if p.settle != nil {
		return took, p.settle(n)
	}
	return took, nil
}

// printed is the output of the last call.
func (p *program) printed() ([]byte, error) {
	if _, err := p.output.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(p.output)
}

func (p *program) complain() error {
	text, err := p.printed()
	if err != nil {
		return err
	}
	return errors.New(string(text))
}

// median of what was timed, in milliseconds.
func (p *program) median() float64 { return milliseconds(median(p.times)) }

// in is the median in medians of another program of the same rounds.
func (p *program) in(unit *program) float64 { return p.median() / unit.median() }

// more is what it takes more than base, in medians of unit.
func (p *program) more(base, unit *program) float64 {
	return (p.median() - base.median()) / unit.median()
}

func median[T int64 | time.Duration](all []T) T { return quantile(all, 0.5) }

func quantile[T int64 | time.Duration](all []T, q float64) T {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
