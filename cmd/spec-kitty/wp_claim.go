package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newWPClaim(a *app) *cobra.Command {
	var mission string
	var w who
	cmd := &cobra.Command{
		Use:   "claim [WP]",
		Short: "Take a work package: the named one, or the next",
		Long: `Hands a work package out to the caller, with its prompt and its token: the named
one, or the next that the current step offers. Exactly one caller gets it; who
holds it already is given it again. It reports nothing.`,
		Example: "  spec-kitty wp claim [WP01] --mission M (--agent A [--worker ID] | --as human:NAME)",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			caller, err := w.caller(a, cmd)
			if err != nil {
				return err
			}
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				answer, err := p.WPClaim(cmd.Context(), runner.ClaimRequest{Mission: handle, Caller: caller, Package: first(args)})
				if err != nil {
					return err
				}
				return a.answer(answer)
			})
		},
	}
	missionFlag(cmd, &mission)
	w.flags(cmd)
	return cmd
}
