package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginTest(a *app) *cobra.Command {
	ask, own := runner.PluginTestAsk{}, runner.FileOptions{}
	cmd := &cobra.Command{
		Use:   "test DIR",
		Short: "Run recorded calls of a plugin and compare the answers",
		Long: `Runs the recorded calls of a folder against a module. Each is two files:

  NAME.request.json  sent to the plugin; its key verb says which verb
  NAME.answer.json   what it must answer, compared as JSON; {"failure": "exited"}
                     is for a call that must end without an answer, by sub-code

The folder NAME.files, else files, is /project for the call, all of it readable. The
module is --plugin, else the only .wasm file in DIR or the folder above. --update
writes the answers instead: read the difference. A failed call gives exit code 1.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if ask.Dir, err = only(cmd, args, "a folder", "name the folder with the recorded calls"); err != nil {
				return err
			}
			found, err := a.kit().WithFile(own).Test(cmd.Context(), ask)
			if err != nil {
				return err
			}
			a.code = exitOfCheck(found.Passed, exitRefused)
			return a.print(found, func() string { return testsText(found) })
		},
	}
	cmd.Flags().StringVar(&ask.Target, "plugin", "", "the `PLUGIN`: a name of spec-kitty.toml, or a .wasm file")
	cmd.Flags().BoolVar(&ask.Update, "update", false, "write the answers instead of comparing them")
	fileFlags(cmd, &own)
	return cmd
}

func testsText(r runner.PluginTests) string {
	var out strings.Builder
	failed := 0
	for _, t := range r.Tests {
		fmt.Fprintf(&out, "%-7s  %s (%s, %.1f ms)\n", t.Result, t.Name, t.End, t.ElapsedMS)
		if t.Result != runner.CheckFail {
			continue
		}
		failed++
		for _, line := range append(lines(t.Found), t.Diff...) {
			fmt.Fprintf(&out, "    %s\n", line)
		}
		for _, line := range lines(strings.TrimRight(t.Log, "\n")) {
			fmt.Fprintf(&out, "    log: %s\n", line)
		}
	}
	fmt.Fprintf(&out, "%s: %d of %d calls failed\n", r.Plugin, failed, len(r.Tests))
	return printable(out.String())
}

// lines are the lines of a text; none of an empty one.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
