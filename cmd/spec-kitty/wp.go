package main

import (
	"github.com/spf13/cobra"
)

// newWP groups the verbs about work packages.
func newWP(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wp",
		Short: "Look at work packages, claim, move and release them",
		Long: `A work package is a file tasks/WP*.md of a mission. It lies in a lane, and beside
the lane stands who holds it. The mission is --mission M or SPEC_KITTY_MISSION.

Where a mission keeps its lanes in status.events.jsonl, our moves are appended
there, under the lock of the tool that keeps it; commit that file with your work.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 1,
		branch{"list", newWPList},
		branch{"show", newWPShow},
		branch{"claim", newWPClaim},
		branch{"move", newWPMove},
		branch{"release", newWPRelease},
		branch{"history", newWPHistory},
	)
	return cmd
}
