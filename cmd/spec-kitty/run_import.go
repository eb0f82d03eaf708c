package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/archive"
	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Take in a run that was exported",
		Long: `Takes in a run out of a file that ` + "`spec-kitty run export`" + ` wrote, - for stdin: its
history as it is, with who did what and when, and its open work with its tokens.
The whole file is verified before anything is made: checksums, the chain of
records, the frozen files. Importing the same again changes nothing.

A run that is here with another history is refused, and so is one of a mission
that has a live run. What the run froze is not trusted by being imported: its
commands still ask for ` + "`spec-kitty help trust`" + `.`,
		Example: "  spec-kitty run import pay.run.tar",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if first(args) == "" {
				return usage("name a file that `spec-kitty run export` wrote, or - for stdin", "no file is named")
			}
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			done, err := a.importRun(cmd.Context(), project, args[0])
			if err != nil {
				return err
			}
			return a.print(done, func() string { return importText(done) })
		},
	}
}

const namesExport = "name a file that `spec-kitty run export` wrote"

func (a *app) importRun(ctx context.Context, project *runner.Project, name string) (runner.Import, error) {
	if streamed(name) {
		data, err := a.readFile(ctx, name, archive.MaxSize)
		if err != nil {
			return runner.Import{}, unread(namesExport, "", err)
		}
		return project.Import(ctx, bytes.NewReader(data))
	}
	file, err := openFile(name)
	if err != nil {
		return runner.Import{}, unread(namesExport, "", err)
	}
	defer file.Close()
	return project.Import(ctx, file)
}

func importText(done runner.Import) string {
	var out strings.Builder
	if done.Imported {
		fmt.Fprintf(&out, "Run %s of mission %s is here, at revision %d.\n", done.RunID, done.MissionSlug, done.Revision)
	} else {
		fmt.Fprintf(&out, "Run %s of mission %s was here already, the same; nothing was changed.\n", done.RunID, done.MissionSlug)
	}
	for _, w := range done.Warnings {
		fmt.Fprintf(&out, "warning %s: %s\n", w.Code, w.Message)
	}
	return printable(out.String())
}
