package main

import (
	"github.com/spf13/cobra"
)

// newMission groups the verbs about definitions.
func newMission(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mission",
		Short: "Check mission types",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	cmd.AddCommand(newMissionValidate(a))
	return cmd
}
