package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// runLog is what `run log` prints with --json.
type runLog struct {
	Schema  int                `json:"schema"`
	From    uint64             `json:"from"`
	Records []runner.LogRecord `json:"records"`
}

func newRunLog(a *app) *cobra.Command {
	var mission string
	var from uint64
	cmd := &cobra.Command{
		Use:   "log [MISSION]",
		Short: "Print the history of a mission's latest run",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, args, mission, func(project *runner.Project, handle string) error {
				doc := runLog{Schema: runner.Schema, From: from, Records: []runner.LogRecord{}}
				err := project.Log(cmd.Context(), handle, from, func(r runner.LogRecord) error {
					doc.Records = append(doc.Records, r)
					return nil
				})
				if err != nil {
					return err
				}
				return a.print(doc, func() string { return logText(doc.Records) })
			})
		},
	}
	missionFlag(cmd, &mission)
	cmd.Flags().Uint64Var(&from, "from", 1, "begin with `REVISION`")
	return cmd
}

func logText(records []runner.LogRecord) string {
	var out strings.Builder
	for _, r := range records {
		fmt.Fprintf(&out, "%6d  %s  %s  %s\n", r.Revision, r.At, r.Kind, r.Actor)
		for _, event := range r.Events {
			fmt.Fprintf(&out, "        %s\n", event)
		}
		if r.Newer != "" {
			fmt.Fprintf(&out, "        not understood by this version: %s\n", r.Newer)
		}
	}
	return printable(out.String())
}
