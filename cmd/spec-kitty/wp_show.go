package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newWPShow(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:     "show WP",
		Short:   "Show a work package: its people, its attempts, and where it may move",
		Example: "  spec-kitty wp show WP01 --mission M",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				found, err := p.WPShow(cmd.Context(), handle, first(args))
				if err != nil {
					return err
				}
				return a.print(found, func() string { return wpShowText(found) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func wpShowText(found runner.WPPage) string {
	p, row := &page{}, found.Package
	fmt.Fprintln(p, told(strings.TrimRight(row.ID+"  "+row.Title, " ")))
	lane := row.Lane
	if row.Since != nil {
		lane += ", since " + *row.Since
	}
	p.line("lane", lane)
	if row.Holder != nil {
		p.line("holder", told(holderText(*row.Holder)))
	}
	p.line("author", told(row.Author))
	if row.Attempt != nil {
		p.line("handed out", told(fmt.Sprintf("%s, attempt %d", said(row.StepID), *row.Attempt)))
	}
	for _, step := range slices.Sorted(maps.Keys(found.Attempts)) {
		p.line("attempts", told(fmt.Sprintf("%d at %s", found.Attempts[step], step)))
	}
	p.line("depends on", strings.Join(row.DependsOn, ", "))
	p.line("waits for", strings.Join(row.WaitsFor, ", "))
	p.line("stopped", told(row.Stopped))
	p.line("feedback", told(found.Feedback))
	p.line("may go to", strings.Join(found.Moves, ", "))
	p.line("file", told(said(found.Path)))
	p.line("workspace", told(said(found.WorkspacePath)))
	p.line("prompt", told(said(found.PromptFile)))
	p.line("report", told(said(found.Report)))
	p.warnings(found.Warnings)
	return p.String()
}
