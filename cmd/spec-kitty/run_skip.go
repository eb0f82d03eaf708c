package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunSkip(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:     "skip [MISSION] STEP",
		Short:   "Complete a step without its work",
		Long:    skipText,
		Example: "  spec-kitty run skip MISSION STEP --reason TEXT [--agent A]",
		Args:    atMost(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			mission := ""
			switch len(args) {
			case 0:
				return usage("name the step", "no step is named")
			case 2:
				mission, args = args[0], args[1:]
			}
			o.step = args[0]
			return o.run(a, cmd, mission, (*runner.Project).Skip)
		},
	}
	o.flags(cmd)
	return cmd
}
