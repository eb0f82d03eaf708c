package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunRelease(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:     "release [MISSION]",
		Short:   "Take work from a holder who does not come back",
		Long:    releaseText,
		Example: "  spec-kitty run release MISSION [--package WP01 | --token T] --reason TEXT",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(a, cmd, first(args), (*runner.Project).Release)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.pack, "package", "", "the work `PACKAGE` (default: the only work that is handed out)")
	cmd.Flags().StringVar(&o.token, "token", "", "the work that was handed out with token `T`")
	return cmd
}
