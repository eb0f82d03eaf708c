package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newDecisionPostpone(a *app) *cobra.Command {
	var o operateOptions
	cmd := &cobra.Command{
		Use:   "postpone DECISION --reason TEXT",
		Short: "Put a question off: it stays open, and others see why",
		Long: `Notes that a question is known and waits. It stays open and keeps its step closed;
whoever looks is told who put it off and why, and questions that were not put off
are shown before it. Answering it works as before.`,
		Example: "  spec-kitty decision postpone input:owner --mission M --reason TEXT",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runDecision(a, cmd, args, "Postponed", (*runner.Project).Postpone)
		},
	}
	o.decisionFlags(cmd)
	return cmd
}

func (o *operateOptions) decisionFlags(cmd *cobra.Command) {
	o.flags(cmd)
	cmd.Flags().StringVar(&o.token, "decision-token", "", "the token `X` of the asking that is meant")
}

func (o *operateOptions) runDecision(a *app, cmd *cobra.Command, args []string, done string, verb operator) error {
	var err error
	if o.asked, err = theDecision(args); err != nil {
		return err
	}
	o.done = done + " " + o.asked + "."
	return o.run(a, cmd, "", verb)
}
