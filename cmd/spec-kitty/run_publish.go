package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunPublish(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:     "publish [MISSION]",
		Short:   "Put recorded artifacts into their places, or give them up",
		Long:    publishText,
		Example: "  spec-kitty run publish MISSION [--discard --reason TEXT]",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(a, cmd, first(args), (*runner.Project).Publish)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.discard, "discard", false, "give the artifacts up: what stands in their places stays")
	return cmd
}
