package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newMissionGraph(a *app) *cobra.Command {
	var o which
	var format string
	cmd := &cobra.Command{
		Use:   "graph [TYPE]",
		Short: "Draw the steps and what they wait for",
		Long: `Prints the steps and what they wait for as a graph: text for Mermaid or Graphviz,
or a picture. A dashed line leads from an audit to what its rejection opens again.`,
		Example: "  spec-kitty mission graph [TYPE | --mission M] [--format mermaid|dot|svg]",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.open(a, cmd, args, func(project *runner.Project, which runner.Which) error {
				drawing, err := project.Graph(cmd.Context(), which, format)
				if err != nil {
					return err
				}
				return a.print(drawing, func() string { return printable(drawing.Graph) })
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "mermaid", "the `FORMAT`: mermaid, dot or svg")
	return cmd
}
