package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunRetry(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:     "retry [MISSION]",
		Short:   "Hand out again what failed, is blocked or was rejected",
		Example: "  spec-kitty run retry MISSION [--package WP01] [--agent A] [--reason TEXT]",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(a, cmd, first(args), (*runner.Project).Retry)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.pack, "package", "", "the work `PACKAGE` (default: the step, or the only package that is stopped)")
	return cmd
}
