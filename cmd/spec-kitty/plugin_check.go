package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginCheck(a *app) *cobra.Command {
	own := runner.FileOptions{}
	cmd := &cobra.Command{
		Use:   "check PLUGIN",
		Short: "Check a module, of any language, against the ABI",
		Long: `Makes the calls that every plugin must get right: describe with empty stdin and no
files, the verbs it describes with an empty mission folder and with no grants,
unknown keys, \u escapes, emoji, 64 levels, a request of 1 MiB, requests that are no
JSON, verbs that do not exist, and each call twice. What fails is named, with what to
do, and the exit code is 1.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := only(cmd, args, aPlugin, namePlain)
			if err != nil {
				return err
			}
			found, err := a.kit().WithFile(own).Check(cmd.Context(), target)
			if err != nil {
				return err
			}
			a.code = exitOfCheck(found.Sound, exitRefused)
			return a.print(found, func() string { return a.checkText(found) })
		},
	}
	fileFlags(cmd, &own)
	return cmd
}

func (a *app) checkText(r runner.PluginReport) string {
	var out strings.Builder
	counts := map[string]int{}
	for _, c := range r.Checks {
		counts[c.Result]++
		verb := ""
		if c.Verb != nil {
			verb = " (" + *c.Verb + ")"
		}
		fmt.Fprintf(&out, "%s  %s%s\n", c.Result, c.Check, verb)
		if c.Result == runner.CheckFail {
			fmt.Fprintf(&out, "      %s\n      to do: %s\n", c.Found, c.Fix)
		}
	}
	fmt.Fprintf(&out, "%s: %d passed, %d failed, %d skipped\n", r.Name, counts[runner.CheckPass], counts[runner.CheckFail], counts[runner.CheckSkip])
	return printable(out.String())
}
