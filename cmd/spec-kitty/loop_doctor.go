package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

func newLoopDoctor(a *app) *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "See whether a scheduler's ticks could do their work",
		Long: `Looks at what a tick needs: the definition, git, the programs, your consent, the
worktrees, the state. It looks as a scheduled tick would: from a process that has
nothing of your shell but the PATH of the installed schedule. Nothing of the loop is
run, and nothing is written. A fault ends with exit code 1.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onLoops(func(l *tick.Loops) error {
				names := args
				if len(args) == 0 {
					all, err := l.All(cmd.Context())
					if err != nil {
						return runner.Classify(err)
					}
					names = all
				}
				d, err := a.diagnose(cmd, l, names, here)
				if err != nil {
					return runner.Classify(err)
				}
				a.code = exitOfCheck(d.Healthy, exitRefused)
				return a.print(d, func() string { return preflightText(d) })
			})
		},
	}
	cmd.Flags().BoolVar(&here, "here", false, "look from the environment that you have")
	return cmd
}

func (a *app) diagnose(cmd *cobra.Command, l *tick.Loops, names []string, here bool) (tick.Diagnosis, error) {
	if !here {
		return l.Doctor(cmd.Context(), names, func(name string) []string { return []string{"loop", "doctor", name, "--here", "--json"} })
	}
	d := tick.Diagnosis{Schema: tick.ReportSchema, Healthy: true, Preflight: []tick.Preflight{}}
	for _, name := range names {
		p := l.Preflight(cmd.Context(), name)
		d.Preflight = append(d.Preflight, p)
		d.Healthy = d.Healthy && p.Ready
	}
	return d, nil
}

func preflightText(d tick.Diagnosis) string {
	if len(d.Preflight) == 0 {
		return "No loops are defined; `spec-kitty help writing-loops` shows one.\n"
	}
	var out strings.Builder
	for _, p := range d.Preflight {
		state := "ready"
		if !p.Ready {
			state = "not ready"
		}
		fmt.Fprintf(&out, "%s  %s\n  PATH %s\n", told(p.Loop), state, told(p.Path))
		for _, c := range p.Checks {
			fmt.Fprintf(&out, "  %-8s %-12s %s\n", c.Level, c.Check, told(c.Message))
			if c.Fix != "" {
				fmt.Fprintf(&out, "           %s\n", told(c.Fix))
			}
		}
	}
	return printable(out.String())
}
