package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunAbort(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:     "abort [MISSION]",
		Short:   "End a run before its end, for good",
		Long:    abortText,
		Example: "  spec-kitty run abort MISSION --reason TEXT",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(a, cmd, first(args), (*runner.Project).Abort)
		},
	}
	o.flags(cmd)
	return cmd
}
