package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunShow(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:   "show [MISSION]",
		Short: "Show a mission's latest run, or the run of an id",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, args, mission, func(project *runner.Project, handle string) error {
				overview, err := project.Show(cmd.Context(), handle)
				if err != nil {
					return err
				}
				return a.print(overview, func() string { return overviewText(overview) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}
