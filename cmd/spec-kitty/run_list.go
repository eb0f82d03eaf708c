package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// runList is what `run list` prints with --json.
type runList struct {
	Schema int             `json:"schema"`
	Runs   []runner.RunRow `json:"runs"`
}

func newRunList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all runs, oldest first",
		Long:  "Lists all runs, oldest first. A run that is damaged is marked, and the others are\nlisted all the same.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			rows, err := project.List(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(runList{Schema: runner.Schema, Runs: list(rows)}, func() string { return rowsText(rows) })
		},
	}
}

func rowsText(rows []runner.RunRow) string {
	if len(rows) == 0 {
		return "There are no runs yet; `spec-kitty run start SLUG` starts one.\n"
	}
	var out strings.Builder
	for _, r := range rows {
		if r.Damaged {
			fmt.Fprintf(&out, "%s  %s  damaged: %s\n", r.RunID, r.MissionSlug, r.Error)
			continue
		}
		fmt.Fprintf(&out, "%s  %s  %s  at %s, revision %d\n", r.RunID, r.MissionSlug, r.MissionType, r.MissionState, r.Revision)
	}
	return printable(out.String())
}
