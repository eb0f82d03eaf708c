package main

import (
	"github.com/spf13/cobra"
)

func newRunShow(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:   "show [MISSION]",
		Short: "Show a mission's latest run",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			handle, err := a.mission(cmd, first(args), mission)
			if err != nil {
				return err
			}
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			overview, err := project.Show(cmd.Context(), handle)
			if err != nil {
				return err
			}
			return a.print(overview, func() string { return overviewText(overview) })
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}
