package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newWPList(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List a mission's work packages: lane, holder, what they wait for",
		Example: "  spec-kitty wp list --mission M",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				list, err := p.WPList(cmd.Context(), handle)
				if err != nil {
					return err
				}
				return a.print(list, func() string { return wpListText(list) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func wpListText(l runner.WPList) string {
	p := &page{}
	if len(l.Packages) == 0 {
		fmt.Fprintf(p, "Mission %s has no work packages (tasks/WP*.md).\n", told(l.MissionSlug))
	}
	for _, row := range l.Packages {
		fmt.Fprintln(p, told(strings.TrimRight(fmt.Sprintf("%-8s %-12s %s", row.ID, row.Lane, row.Title), " ")+wpNotes(row)))
	}
	p.progress(l.Progress)
	p.warnings(l.Warnings)
	return p.String()
}

// wpNotes is what stands beside a package's lane.
func wpNotes(row runner.WPRow) string {
	var notes strings.Builder
	if row.Holder != nil {
		notes.WriteString("; with " + holderText(*row.Holder))
	}
	if len(row.WaitsFor) > 0 {
		notes.WriteString("; waits for " + strings.Join(row.WaitsFor, ", "))
	}
	if row.Stopped != "" {
		notes.WriteString("; " + row.Stopped)
	}
	if row.NoFile {
		notes.WriteString("; has no file")
	}
	return notes.String()
}
