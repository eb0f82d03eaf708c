package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newDecisionWithdraw(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:   "withdraw DECISION --reason TEXT",
		Short: "End the asking of a plugin's or a package's question",
		Long: `Ends the asking of a question that nobody wants answered any more. What still needs
it asks again: an executor when its step is reported, a canceled package when work
is asked for. Inputs and audits cannot be withdrawn, since their steps cannot do
without them: answer or postpone them.`,
		Example: "  spec-kitty decision withdraw plugin:layout --mission M --reason TEXT",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runDecision(a, cmd, args, "Withdrew", (*runner.Project).Withdraw)
		},
	}
	o.decisionFlags(cmd)
	return cmd
}
