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
			switch len(args) {
			case 0:
				return usage("name the step", "no step is named")
			case 1:
				if o.mission == "" && a.getenv("SPEC_KITTY_MISSION") == "" {
					return usage("name both: `spec-kitty run skip MISSION STEP --reason TEXT`", "%q is taken for the step, and no mission is named", args[0])
				}
				args = []string{"", args[0]}
			}
			o.step = args[1]
			return o.run(a, cmd, args[0], (*runner.Project).Skip)
		},
	}
	o.flags(cmd)
	return cmd
}
