package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newMissionImport(a *app) *cobra.Command {
	var q runner.ImportRequest
	cmd := &cobra.Command{
		Use:   "import PATH",
		Short: "Take over a mission type of the Python program",
		Long: `Reads a mission-runtime.yaml, a mission.yaml, or the folder of a mission type with
its mission.yaml, expected-artifacts.yaml and prompts, writes it as a mission type
of this program and names it in spec-kitty.toml. What cannot be taken over is
listed with its line, and so is every step that nothing checks.

It overwrites nothing: a file that is there already must have the same bytes. What
is invalid is refused, all of it at once, with line and column.`,
		Example: "  spec-kitty mission import PATH [--prompts DIR] [--type KEY] [--out DIR]",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if q.Path, err = only(cmd, args, "a path", "name a mission-runtime.yaml, a mission.yaml or a folder"); err != nil {
				return err
			}
			q.Root = a.root
			done, err := runner.ImportMission(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.print(done, func() string { return printable(takenOverText(done)) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Prompts, "prompts", "", "a further `DIR` with prompts, which comes first")
	f.StringVar(&q.Type, "type", "", "the mission type's `KEY` (default: what the definition says)")
	f.StringVar(&q.Out, "out", "", "write into `DIR` below the project root (default: missions/KEY)")
	return cmd
}

func takenOverText(done runner.MissionImport) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Imported the mission type %s\n  in %s\n", done.MissionType, done.Path)
	for _, name := range done.Written {
		fmt.Fprintf(&out, "  %s\n", name)
	}
	if n := len(done.Unchanged); n > 0 {
		fmt.Fprintf(&out, "  %d files were there already, with the same bytes\n", n)
	}
	if done.Changed {
		fmt.Fprintf(&out, "  and %s\n", place(done.Config, done.Line))
	}
	if len(done.Notes) > 0 {
		out.WriteString("\nTo know:\n")
	}
	for _, n := range done.Notes {
		step := ""
		if n.StepID != nil {
			step = *n.StepID + ": "
		}
		fmt.Fprintf(&out, "  %s:%d: %s: %s%s\n", n.File, n.Line, n.Code, step, n.Message)
	}
	out.WriteString("\nGo on with:\n")
	for _, line := range done.Next {
		fmt.Fprintf(&out, "  %s\n", line)
	}
	return out.String()
}
