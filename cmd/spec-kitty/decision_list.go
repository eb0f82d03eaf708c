package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newDecisionList(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List a run's questions and what became of them",
		Example: "  spec-kitty decision list --mission M",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				list, err := p.Decisions(cmd.Context(), handle)
				if err != nil {
					return err
				}
				return a.print(list, func() string { return decisionListText(list) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func decisionListText(l runner.DecisionList) string {
	p := &page{}
	if len(l.Decisions) == 0 {
		fmt.Fprintf(p, "Nothing was asked in the run of %s.\n", told(l.MissionSlug))
	}
	for _, row := range l.Decisions {
		p.decision(row)
	}
	p.warnings(l.Warnings)
	return p.String()
}

// decision is one asking in a few lines.
func (p *page) decision(row runner.DecisionRow) {
	fmt.Fprintf(p, "%-10s %s\n", row.State, told(row.ID+": "+row.Question))
	what := "by " + cmp.Or(row.By, "nobody who was asked")
	if row.Answer != nil {
		what = *row.Answer + ", " + what
	}
	if row.At != nil {
		fmt.Fprintf(p, "           %s at %s\n", told(what), *row.At)
	}
	if row.Reason != "" {
		fmt.Fprintf(p, "           %s\n", told(row.Reason))
	}
	if back := row.TakenBack; back != nil {
		fmt.Fprintf(p, "           taken back by %s at %s: %s\n", told(back.By), back.At, told(back.Reason))
	}
}
