package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newWPHistory(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:   "history WP",
		Short: "Print what happened to a work package: who, when, why",
		Long: `Prints what happened to a work package, oldest first: moves, hand-outs, reports
with their attempt, and reasons. Where the mission keeps its lanes in
status.events.jsonl, the moves are those of that log.`,
		Example: "  spec-kitty wp history WP01 --mission M",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, nil, mission, func(p *runner.Project, handle string) error {
				found, err := p.WPHistory(cmd.Context(), handle, first(args))
				if err != nil {
					return err
				}
				return a.print(found, func() string { return wpHistoryText(found) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func wpHistoryText(found runner.WPHistory) string {
	p := &page{}
	if len(found.Changes) == 0 {
		fmt.Fprintf(p, "Nothing happened to %s yet.\n", told(found.WPID))
	}
	for _, c := range found.Changes {
		fmt.Fprintln(p, told(c.At+"  "+c.Actor+"  "+changeText(c)))
	}
	p.warnings(found.Warnings)
	return p.String()
}

// changeText is a change in one line.
func changeText(c runner.WPChange) string {
	words := []string{c.Change}
	add := func(word, value string) {
		if value != "" {
			words = append(words, word+value)
		}
	}
	add("from ", said(c.From))
	add("to ", said(c.To))
	add("at ", said(c.StepID))
	if c.Attempt != nil {
		add("attempt ", fmt.Sprint(*c.Attempt))
	}
	add("as ", said(c.Result))
	if c.Change == "reported" {
		add("by ", c.Holder)
	} else {
		add("with ", c.Holder)
	}
	add("author ", c.Author)
	if c.Force {
		words = append(words, "by force")
	}
	line := strings.Join(words, " ")
	if c.Reason != "" {
		line += ": " + c.Reason
	}
	return line
}
