package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newWPRelease(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:   "release WP --reason TEXT",
		Short: "Drop a work package's holder, who does not come back",
		Long: `Drops a work package's holder and puts the package back: from claimed and
in_progress to planned, from in_review to for_review, from blocked to where it came
from. What was handed out of it is void, and the work keeps its attempt.`,
		Example: "  spec-kitty wp release WP01 --mission M --reason TEXT",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.pack, o.done = first(args), "Released "+first(args)+"."
			return o.run(a, cmd, "", (*runner.Project).WPRelease)
		},
	}
	o.flags(cmd)
	return cmd
}
