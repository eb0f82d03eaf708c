package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newDecisionShow(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:     "show DECISION",
		Short:   "Show one question: each time it was asked, and who may answer it",
		Example: "  spec-kitty decision show input:owner --mission M",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := theDecision(args)
			if err != nil {
				return err
			}
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				shown, err := p.Decision(cmd.Context(), handle, id)
				if err != nil {
					return err
				}
				return a.print(shown, func() string { return decisionText(shown) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func decisionText(d runner.DecisionPage) string {
	p := &page{}
	for _, row := range d.Askings {
		p.decision(row)
	}
	last := d.Askings[len(d.Askings)-1]
	if len(last.Options) > 0 {
		fmt.Fprintf(p, "Options: %s\n", told(strings.Join(last.Options, ", ")))
	}
	fmt.Fprintf(p, "May be answered by %s.\n", told(d.MayAnswer))
	if len(d.Recover) > 0 {
		fmt.Fprintf(p, "Its token: %s\n", last.Token)
	}
	for _, line := range d.Recover {
		fmt.Fprintf(p, "  %s\n", line)
	}
	p.warnings(d.Warnings)
	return p.String()
}
