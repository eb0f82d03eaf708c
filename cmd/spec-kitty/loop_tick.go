package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/tick"
)

func newLoopTick(a *app) *cobra.Command {
	var skipCode int
	var scheduled bool
	cmd := &cobra.Command{
		Use:   "tick NAME",
		Short: "Take a loop one run further, or say why not",
		Long: `One firing. It first ends what a dead tick left. Then it claims the loop, or skips on
purpose: paused, halted, waiting for a decision, busy, in backoff, done. Then gate,
work, verify, landing, with no lock held; the outcome is recorded last.

A tick that skipped, or asks a person, ends with exit code 0, so that schedulers
show no failure; --skip-code changes that of a skip. --scheduled is for schedulers:
the firing is held against the definition's schedule, so that a time that was
served, or is over, is skipped. Without it, a person's firing is taken as wanted now.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if skipCode < 0 || skipCode > 255 {
				return usage("use 0 to 255", "--skip-code %d is no exit code", skipCode)
			}
			by := "tick:" + login(a.getenv)
			return a.onLoop(args, func(l *tick.Loops, name string) error {
				report, err := l.Tick(cmd.Context(), tick.Request{Loop: name, Who: by, ByHand: !scheduled, Zone: time.Local})
				if err := a.reported(name, report, err); err != nil {
					return err
				}
				switch {
				case a.code == exitOK && report.Outcome == tick.Skipped:
					a.code = skipCode
				case err == nil:
					a.code = exitOfTick(cmd.Context(), report)
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&skipCode, "skip-code", 0, "the exit `CODE` of a tick that skipped on purpose")
	cmd.Flags().BoolVar(&scheduled, "scheduled", false, "a scheduler fires this tick")
	cmd.Flags().Bool("foreground", true, "stay until the run is over; ticks always do")
	return cmd
}

func newLoopCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check NAME",
		Short: "Ask a loop's gate, and change nothing",
		Long:  "Runs the gate and says whether a tick would go on. It takes no lock and writes\nnothing. An open or closed gate ends with 0, one that gives no answer with 1.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.loopVerb(cmd, args, func(l *tick.Loops, name string) (tick.Report, error) { return l.Check(cmd.Context(), name) })
		},
	}
}

func newLoopBeat(a *app) *cobra.Command {
	var cost float64
	var tokens int64
	var context, progress string
	cmd := &cobra.Command{
		Use:   "beat",
		Short: "Tell a run's progress and usage, from inside of it",
		Long: `For the work of a loop: tells what it did and used so far. Each number is the run's
total. What is not told is unknown, which a limit does not take for nothing. The
runner itself keeps the loop's claim alive; work that says nothing loses nothing.`,
		Example: "  spec-kitty loop beat --progress 'half of the tests' --cost 1.20 --tokens 48000 --context 40%",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			told := tick.Told{Progress: progress}
			if cmd.Flags().Changed("cost") {
				told.Cost = &cost
			}
			if cmd.Flags().Changed("tokens") {
				told.Tokens = &tokens
			}
			if cmd.Flags().Changed("context") {
				told.Context = &context
			}
			return a.onLoops(func(l *tick.Loops) error {
				report, err := l.Beat(told)
				return a.reported(report.Loop, report, err)
			})
		},
	}
	f := cmd.Flags()
	f.Float64Var(&cost, "cost", 0, "what the run cost so far, in the `UNITS` of the limits")
	f.Int64Var(&tokens, "tokens", 0, "the `TOKENS` that it used so far")
	f.StringVar(&context, "context", "", "what is left of the context, such as `40%`")
	f.StringVar(&progress, "progress", "", "`TEXT` for people")
	return cmd
}
