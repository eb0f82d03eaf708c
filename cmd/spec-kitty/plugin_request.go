package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newPluginRequest(a *app) *cobra.Command {
	ask, mission, who := runner.PluginAsk{}, "", who{}
	cmd := &cobra.Command{
		Use:   "request",
		Short: "Print the request that a plugin would get now",
		Long: `Prints the request that the host would send to a guard or to the executor of the
current step, if success were reported now: one JSON document, as the plugin gets it
on stdin (plugins/abi/v1/request.schema.json). It runs nothing and changes nothing. A
guard sees values that the step's executor gives in a real report only.`,
		Example: `  spec-kitty plugin request --mission M --guard NAME
  spec-kitty plugin request --mission M --executor`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if ask.Mission, err = a.mission(cmd, "", mission); err != nil {
				return err
			}
			if ask.Caller, err = who.caller(a, cmd); err != nil {
				return err
			}
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			asked, err := project.PluginRequest(cmd.Context(), ask)
			if err != nil {
				return err
			}
			return a.print(json.RawMessage(asked.Request), func() string { return string(asked.Request) + "\n" })
		},
	}
	missionFlag(cmd, &mission)
	who.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&ask.Guard, "guard", "", "the guard by plugin `NAME`; NAME#2 is the second of that name in the step")
	f.BoolVar(&ask.Executor, "executor", false, "the step's executor")
	f.StringVar(&ask.Package, "package", "", "the work package `WP`, where several are handed out")
	return cmd
}
