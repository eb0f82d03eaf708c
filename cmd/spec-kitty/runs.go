package main

import (
	"github.com/spf13/cobra"
)

// newRun groups the verbs about runs.
func newRun(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start, look at and steer runs",
		Long: `A run is one pass of a mission through its definition. The mission is the first
argument, --mission M or SPEC_KITTY_MISSION.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 1,
		branch{"start", newRunStart},
		branch{"list", newRunList},
		branch{"show", newRunShow},
		branch{"log", newRunLog},
		branch{"retry", newRunRetry},
		branch{"skip", newRunSkip},
		branch{"release", newRunRelease},
		branch{"abort", newRunAbort},
		branch{"rewind", newRunRewind},
		branch{"migrate", newRunMigrate},
		branch{"publish", newRunPublish},
		branch{"verify", newRunVerify},
		branch{"replay", newRunReplay},
		branch{"export", newRunExport},
		branch{"import", newRunImport},
	)
	return cmd
}

// noCommand refuses a group that is called without one of its commands.
func noCommand(cmd *cobra.Command) error {
	e := usage("name one of its commands", "%s does nothing by itself", cmd.CommandPath())
	for _, c := range cmd.Commands() {
		e.Candidates = append(e.Candidates, c.Name())
	}
	return e
}
