package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/spec-kitty/step-runner/bench/internal/load"
)

func eightRows(b *bed) ([]row, error) {
	claims, err := eightClaims(b)
	if err != nil {
		return nil, err
	}
	whole, err := eightNext(b)
	return append(claims, whole...), err
}

// eightClaims lets eight processes commit to one run, against one process, and
// against eight floors in one folder.
func eightClaims(b *bed) ([]row, error) {
	c, err := b.makeClaimed("eight")
	if err != nil {
		return nil, err
	}
	one, err := b.claimWorkers(c, 1)
	if err != nil {
		return nil, err
	}
	eight, err := b.claimWorkers(c, agents)
	if err != nil {
		return nil, err
	}
	floors, err := b.floorWorkers("floor-eight", c, agents)
	if err != nil {
		return nil, err
	}
	flush()
	if err := b.loads(max(b.opts.rounds/20, 4), b.length(), one, eight, floors); err != nil {
		return nil, err
	}
	p99, longest := float64(quantile(eight.waits(), 0.99)), float64(slices.Max(eight.waits()))
	bare := float64(slices.Max(floors.waits()))
	return []row{
		{Group: "eight", What: "claims of eight processes, of one process's per second", Value: eight.rate() / one.rate(), Unit: "x", Bar: 0.6, Kind: atLeast,
			Detail: fmt.Sprintf("%.0f and %.0f per second", eight.rate(), one.rate())},
		{Group: "eight", What: "claims: p99 wait, in mean holds × 8", Value: p99 / eight.hold() / agents, Unit: "x", Bar: 4, Kind: atMost,
			Detail: fmt.Sprintf("p99 %.1f ms, mean hold %.2f ms; eight floors %.2f x", p99/1e6, eight.hold()/1e6, float64(quantile(floors.waits(), 0.99))/floors.hold()/agents)},
		{Group: "eight", What: "claims: longest wait, of eight floors'", Value: longest / bare, Unit: "x", Bar: 3, Kind: atMost,
			Detail: fmt.Sprintf("%.0f and %.0f ms", longest/1e6, bare/1e6)},
		{Group: "eight", What: "claims: the poorest process, of the mean", Value: eight.poorest(done), Unit: "x", Bar: 0.5, Kind: atLeast},
	}, nil
}

// eightNext lets eight agents call `next` on one run as whole processes, each
// over and over, against one agent. Anybody may report the current step, so
// that they get in each other's way as much as can be: an overtaken report is
// refused and does not count.
func eightNext(b *bed) ([]row, error) {
	if _, err := b.build(productProgram); err != nil {
		return nil, err
	}
	b.say("making a mission of %d steps for eight agents", manySteps)
	cfg := smallConfig(plainType) + "\n[runtime]\nholder = \"any\"\nlock_timeout = \"1m\"\n"
	p, err := b.makeProject("agents", cfg, missionType{name: plainType, steps: manySteps})
	if err != nil {
		return nil, err
	}
	for n := range 2 {
		if err := p.start(b.ctx, plainSlug(n), plainType); err != nil {
			return nil, err
		}
	}
	one, eight := b.callers(p, plainSlug(0), 1), b.callers(p, plainSlug(1), agents)
	flush()
	if err := b.loads(max(b.opts.rounds/40, 3), 2*b.length(), one.crew, eight.crew); err != nil {
		return nil, err
	}
	return []row{
		{Group: "eight", What: "whole next of eight agents, of one agent's steps per second", Value: eight.rate() / one.rate(), Unit: "x", Bar: 0.5, Kind: atLeast,
			Detail: fmt.Sprintf("%.0f and %.0f per second, %.0f %% of the reports refused", eight.rate(), one.rate(), eight.refused())},
		{Group: "eight", What: "whole next: the poorest agent's attempts, of the mean", Value: eight.poorest(attempts), Unit: "x", Bar: 0.5, Kind: atLeast},
	}, nil
}

// callers is a crew of agents that each call the program again and again. Of
// their results, Done counts the steps completed and Waits the attempts.
type callers struct{ *crew }

func attempts(r load.Result) int { return len(r.Waits) }

func (b *bed) callers(p *project, slug string, n int) callers {
	path := b.built["spec-kitty"]
	return callers{&crew{work: func(ctx context.Context, length time.Duration) ([]load.Result, error) {
		results, errs := make([]load.Result, n), make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				results[i], errs[i] = callLoop(ctx, length, path, nextArgs(p, slug, agentName(i)))
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return results, nil
	}}}
}

// callLoop is one agent.
func callLoop(ctx context.Context, length time.Duration, path string, args []string) (load.Result, error) {
	var r load.Result
	first := time.Now()
	for time.Since(first) < length {
		begun := time.Now()
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = []string{"HOME=" + os.DevNull}
		out, err := cmd.Output()
		r.Waits = append(r.Waits, time.Since(begun).Nanoseconds())
		switch {
		case err == nil && bytes.Contains(out, []byte(`"recorded":true`)):
			r.Done++
		case cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || !overtaken(out):
			return r, fmt.Errorf("%s %v: %w: %s", path, args, err, out)
		}
	}
	r.Took = time.Since(first).Nanoseconds()
	return r, nil
}

// overtaken tells whether a report was refused because another came first.
func overtaken(answer []byte) bool {
	return bytes.Contains(answer, []byte(`"cursor_moved"`)) || bytes.Contains(answer, []byte(`"stale_plan"`))
}

// refused is the share of attempts that completed nothing, in percent.
func (c callers) refused() float64 {
	var all, done float64
	for _, round := range c.rounds {
		for _, r := range round {
			all += float64(attempts(r))
			done += float64(r.Done)
		}
	}
	return 100 * (all - done) / all
}
