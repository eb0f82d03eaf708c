package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// decisionAnswerOptions are what `decision answer` is called with.
type decisionAnswerOptions struct {
	who
	mission string
	token   string
	file    text
	reason  text
	replace bool
}

func newDecisionAnswer(a *app) *cobra.Command {
	var o decisionAnswerOptions
	cmd := &cobra.Command{
		Use:   "answer DECISION VALUE",
		Short: "Answer a question, or replace an answer",
		Long: `Answers a question, as ` + "`spec-kitty next --answer`" + ` does. With --replace the answer
takes the place of the one given before, as long as no step was completed with that:
work that is handed out is handed out anew, with a new token and the new answer in
its prompt. After that ` + "`spec-kitty run rewind`" + ` is the way back.`,
		Example: `  spec-kitty decision answer input:owner kim --mission M (--agent A | --as human:NAME)
  spec-kitty decision answer audit:release approve --mission M --as human:NAME --decision-token X
  spec-kitty decision answer input:owner ann --mission M --as human:NAME --replace --reason TEXT`,
		Args: atMost(2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	o.file.flags(cmd, "answer", "the answer, in place of the argument `VALUE`")
	o.reason.flags(cmd, "reason", "`TEXT`: why, for the record; a rejection's is shown in the next prompt")
	cmd.Flags().StringVar(&o.token, "decision-token", "", "the token `X` of this asking; needed for audits")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace the answer that was given before; wants a reason")
	return cmd
}

func (o *decisionAnswerOptions) run(a *app, cmd *cobra.Command, args []string) error {
	q, err := o.request(a, cmd, args)
	if err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	answer, err := project.Decide(cmd.Context(), q)
	if err != nil {
		return err
	}
	return a.answer(answer) // which says what was answered
}

func (o *decisionAnswerOptions) request(a *app, cmd *cobra.Command, args []string) (runner.Request, error) {
	q := runner.Request{DecisionToken: o.token, Replace: o.replace}
	var err error
	if q.Decision, err = theDecision(args); err != nil {
		return q, err
	}
	if q.Mission, err = a.mission(cmd, "", o.mission); err != nil {
		return q, err
	}
	if q.Caller, err = o.who.caller(a, cmd); err != nil {
		return q, err
	}
	if o.reason.file == "-" && o.file.file == "-" {
		return q, usage("put one of them into a file", "--reason-file and --answer-file both read stdin")
	}
	if q.Reason, _, err = o.reason.read(cmd.Context(), a, cmd); err != nil {
		return q, err
	}
	value, given, err := o.file.read(cmd.Context(), a, cmd)
	switch {
	case err != nil:
		return q, err
	case given && len(args) == 2:
		return q, usage("leave one of them out", "the argument and --answer both give the answer")
	case len(args) == 2:
		value = args[1]
	case !given:
		return q, usage("add the answer after the decision, or --answer-file FILE", "no answer is given")
	}
	q.Answer = &value
	return q, nil
}
