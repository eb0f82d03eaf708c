package main

import (
	"github.com/spf13/cobra"
)

// newDecision groups the verbs about questions.
func newDecision(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decision",
		Short: "Look at a run's questions, answer, postpone and withdraw them",
		Long: `A question, or decision, keeps its step from being handed out until it is answered.
The mission is --mission M or SPEC_KITTY_MISSION; the question is named by its id:
input:KEY, audit:STEP, plugin:KEY or package:WP.

  open        it is asked
  postponed   open, and somebody put it off: it still keeps its step closed
  answered    it has its answer, which can be replaced until a step is completed
  replaced    another answer took the place of this one
  withdrawn   it ended without an answer, or its answer was taken back`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 1,
		branch{"list", newDecisionList},
		branch{"show", newDecisionShow},
		branch{"answer", newDecisionAnswer},
		branch{"postpone", newDecisionPostpone},
		branch{"withdraw", newDecisionWithdraw},
	)
	return cmd
}

// theDecision is the one argument that names a question.
func theDecision(args []string) (string, error) {
	if len(args) == 0 {
		return "", usage("name it, as `spec-kitty decision list` shows it: input:KEY, audit:STEP, plugin:KEY or package:WP", "no question is named")
	}
	return args[0], nil
}
