package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// loopStatus is what `loop status` prints with --json.
type loopStatus struct {
	Schema int           `json:"schema"`
	Loops  []tick.Status `json:"loops"`
}

func newLoopStatus(a *app) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show how a loop, or every loop, stands, and what happens next",
		Long: `Says what is believed of the loop, why, and what happens next. It takes no lock and
writes nothing. A loop that is not there ends with 4, one whose state is damaged
with 5; of all loops together it always ends with 0.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch && a.json {
				return usage("leave one of them out", "--watch is for people, --json prints one document")
			}
			name := first(args)
			show := a.showLoops
			if watch && isTerminal(a.out) { // one page is enough for a file
				show = a.watchLoops
			}
			if err := show(cmd.Context(), name); err != nil {
				return a.reported(name, tick.Report{}, err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "draw it again and again, on a terminal, until interrupted")
	return cmd
}

// showLoops prints the loop, or all of them.
func (a *app) showLoops(ctx context.Context, name string) error {
	found, err := a.lookAtLoops(ctx, name)
	if err != nil {
		return err
	}
	return a.print(found, func() string { return loopsText(found.Loops) })
}

func (a *app) watchLoops(ctx context.Context, name string) error {
	timer := time.NewTicker(watchPause)
	defer timer.Stop()
	return a.redraw(ctx, timer.C, a.loopsPage(name))
}

func (a *app) loopsPage(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		found, err := a.lookAtLoops(ctx, name)
		return loopsText(found.Loops), err
	}
}

// lookAtLoops reads everything anew, the configuration too. A named loop that is not
// there is an error; one whose state is damaged is a row, and an exit code.
func (a *app) lookAtLoops(ctx context.Context, name string) (found loopStatus, err error) {
	found = loopStatus{Schema: runner.Schema, Loops: []tick.Status{}}
	err = a.onLoops(func(l *tick.Loops) error {
		names := []string{name}
		if name == "" {
			if names, err = l.All(ctx); err != nil {
				return runner.Classify(err)
			}
		}
		for _, one := range names {
			status, err := l.Status(ctx, one) // a fault is in the status
			if name != "" && tick.Broken(err) {
				a.code = exitDamaged
			} else if name != "" && err != nil {
				return err
			}
			found.Loops = append(found.Loops, status)
		}
		return nil
	})
	return found, err
}

func loopsText(all []tick.Status) string {
	if len(all) == 0 {
		return "No loops are defined; `spec-kitty help writing-loops` shows one.\n"
	}
	var out strings.Builder
	for _, s := range all {
		out.WriteString(loopText(s))
	}
	return out.String()
}

func loopText(s tick.Status) string {
	p := &page{}
	fmt.Fprintln(p, told(strings.Join(append([]string{s.Loop + "  " + s.Status}, s.Flags...), "  ")))
	p.line("why", told(s.Why))
	p.line("next", told(s.Next))
	if c := s.Claim; c != nil {
		p.line("run", told(fmt.Sprintf("%d, %s since %s, process %d on %s", c.Token, c.Phase, c.Since, c.PID, c.Host)))
		p.line("progress", told(c.Progress))
	}
	if q := s.Approval; q != nil {
		p.line("request", told(fmt.Sprintf("%s to %s, %s, until %s", q.ID, q.Subject.Stage, q.State, q.Expires)))
	}
	if s.Token > 0 {
		p.line("runs", fmt.Sprintf("%d; in a row: %d failures, %d without change, %d skips", s.Count.Runs, s.Count.Failures, s.Count.NoProgress, s.Count.Skips))
	}
	if total := s.Count.Total; total.Cost > 0 || total.Tokens > 0 || total.Unknown > 0 {
		p.line("used", fmt.Sprintf("cost %s, %d tokens; %d runs did not tell", total.Cost, total.Tokens, total.Unknown))
	}
	p.line("last run", told(strings.TrimSuffix(s.LastRun+"; "+s.Detail, "; ")))
	p.line("last skip", s.LastSkip)
	p.line("last success", s.Success)
	for _, w := range s.Warnings {
		p.line("warning", told(w.Code+": "+w.Message))
	}
	return printable(p.String())
}
