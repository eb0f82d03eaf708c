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
	a.grow(cmd, 1,
		branch{"list", newMissionList},
		branch{"show", newMissionShow},
		branch{"validate", newMissionValidate},
		branch{"graph", newMissionGraph},
		branch{"simulate", newMissionSimulate},
		branch{"import", newMissionImport},
	)
	return cmd
}
