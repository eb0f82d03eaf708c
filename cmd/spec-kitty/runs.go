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
	cmd.AddCommand(newRunStart(a), newRunList(a), newRunShow(a), newRunLog(a),
		newRunRetry(a), newRunSkip(a), newRunRelease(a), newRunAbort(a), newRunRewind(a), newRunMigrate(a), newRunPublish(a), newRunVerify(a), newRunReplay(a),
		newRunExport(a), newRunImport(a))
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
