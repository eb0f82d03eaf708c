package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunReplay(a *app) *cobra.Command {
	q := runner.ReplayRequest{}
	cmd := &cobra.Command{
		Use:   "replay [MISSION]",
		Short: "Tell a run as it happened, and see whether it comes out the same",
		Long: `Tells the latest run step by step: who did what, on what evidence. It folds the
journal anew and holds the outcome against the state that the run goes by.

With --plugins the recorded calls of plugins are made again, each with the
request, time and randomness that it had, where the files that it saw are
unchanged, and the answers are compared byte for byte. Calls that cannot be made
again are named with the reason; they do not count as a difference. Nothing is
written, and no command is run.

Ends with 0 where the run comes out the same, 1 where something differs or a
newer version is needed to judge it, 5 where the journal is damaged; what can be
read of it is told all the same.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, args, q.Mission, func(project *runner.Project, handle string) error {
				q.Mission = handle
				replayed, err := project.Replay(cmd.Context(), q)
				if err != nil {
					return err
				}
				a.code = exitOfReplay(replayed)
				return a.print(replayed, func() string { return replayText(replayed) })
			})
		},
	}
	missionFlag(cmd, &q.Mission)
	cmd.Flags().BoolVar(&q.Plugins, "plugins", false, "make the recorded calls of plugins again")
	return cmd
}

func replayText(r runner.Replay) string {
	var out strings.Builder
	for _, m := range r.Moments {
		fmt.Fprintf(&out, "%6d  %s  %s by %s\n", m.Revision, m.At, m.Kind, m.Actor)
		for _, said := range m.Told {
			fmt.Fprintf(&out, "        %s\n", said.Text)
			for _, line := range said.Evidence {
				fmt.Fprintf(&out, "          - %s\n", line)
			}
		}
		for _, c := range r.Calls {
			if c.Revision == m.Revision {
				fmt.Fprintf(&out, "        again: %s\n", againText(c))
			}
		}
	}
	fmt.Fprintf(&out, "\nRun %s: %s\n", r.RunID, verdictText(r.Verdict))
	for _, problem := range r.Problems {
		fmt.Fprintf(&out, "  %s\n", problem)
	}
	return printable(out.String())
}

func againText(c runner.CallAgain) string {
	text := strings.TrimSpace(c.Kind + " " + c.Name + " " + c.Verb)
	switch c.End {
	case runner.AgainSame:
		return text + ": the same answer"
	case runner.AgainDiffers:
		return text + ": " + c.Why
	}
	return text + ": not repeated: " + c.Why
}

func verdictText(v runner.Verdict) string {
	switch v {
	case runner.VerdictSame:
		return "it comes out the same."
	case runner.VerdictDiffers:
		return "it does not come out the same:"
	case runner.VerdictDamaged:
		return "its journal is damaged; what can be read of it stands above:"
	}
	return "it is shown and not judged:"
}
