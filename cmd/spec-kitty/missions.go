package main

import (
	"github.com/spf13/cobra"
)

// newMission groups the verbs about definitions, for people who write them.
func newMission(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mission",
		Short: "List, check, show, try out and import mission types",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	cmd.AddCommand(newMissionList(a), newMissionShow(a), newMissionValidate(a), newMissionGraph(a), newMissionSimulate(a), newMissionImport(a))
	return cmd
}
