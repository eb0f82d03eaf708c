package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
)

// nextOptions are what `next` is called with.
type nextOptions struct {
	who
	mission  string
	result   string
	token    string
	reason   text
	answer   text
	decision string
	asking   string
	planOut  string
	apply    string
}

func newNext(a *app) *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Show, report, answer: and get the next step",
		Long: `Without --result and --answer, next shows how the mission stands and changes
nothing. With --result it reports on the work that was handed out, or asks for
work, and gives what comes next. With --answer it answers a question.`,
		Example: `  spec-kitty next --mission M [--agent A]
  spec-kitty next --mission M --agent A --result success|failed|blocked [--token T] [--reason TEXT]
  spec-kitty next --mission M (--agent A | --as human:NAME) --answer V [--decision-id D] [--result success]
  spec-kitty next --mission M --agent A --result success --plan-out FILE
  spec-kitty next --apply FILE`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(a, cmd) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.result, "result", "", "how the work ended: `success`, failed or blocked; without work in hand, success asks for it")
	f.StringVar(&o.token, "token", "", "the token `T` of the work that is reported, from the answer that handed it out")
	o.reason.flags(cmd, "reason", "`TEXT`: why it failed or is blocked; with --answer, why so")
	o.answer.flags(cmd, "answer", "the answer `V` to a question")
	f.StringVar(&o.decision, "decision-id", "", "the id `D` of the question (default: the only one open)")
	f.StringVar(&o.asking, "decision-token", "", "the token `X` of this asking; needed for audits")
	f.StringVar(&o.planOut, "plan-out", "", "write the plan to `FILE`, over nothing but a plan, and commit nothing")
	f.StringVar(&o.apply, "apply", "", "commit the plan in `FILE`; - is stdin")
	return cmd
}

func (o *nextOptions) run(a *app, cmd *cobra.Command) error {
	if cmd.Flags().Changed("apply") {
		return o.runApply(a, cmd)
	}
	request, err := o.request(a, cmd)
	if err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	if cmd.Flags().Changed("plan-out") {
		request.PlanOut = func(plan []byte) error { return writePlan(project, o.planOut, plan) }
	}
	var answer runner.Answer
	if o.isQuery(request) {
		answer, err = project.Query(cmd.Context(), request.Mission, request.Caller)
	} else {
		answer, err = project.Next(cmd.Context(), request)
	}
	if err != nil {
		return err
	}
	return a.answer(answer)
}

// isQuery tells whether nothing is reported, answered or half said: a token, a
// reason or a plan without a result is left to the runner to refuse.
func (o *nextOptions) isQuery(r runner.Request) bool {
	return r.Result == "" && r.Answer == nil && r.Token == "" && r.Decision == "" && r.DecisionToken == "" && r.PlanOut == nil
}

func (o *nextOptions) request(a *app, cmd *cobra.Command) (runner.Request, error) {
	r := runner.Request{Result: cursor.Result(o.result), Token: o.token, Decision: o.decision, DecisionToken: o.asking}
	var err error
	if r.Mission, err = a.mission(cmd, "", o.mission); err != nil {
		return r, err
	}
	if r.Caller, err = o.who.caller(a, cmd); err != nil {
		return r, err
	}
	if err := o.texts(cmd.Context(), a, cmd, &r); err != nil {
		return r, err
	}
	if err := o.complete(cmd, r); err != nil {
		return r, err
	}
	return r, nil
}

// texts reads the reason and the answer; only one can come from stdin.
func (o *nextOptions) texts(ctx context.Context, a *app, cmd *cobra.Command, r *runner.Request) error {
	if o.reason.file == "-" && o.answer.file == "-" {
		return usage("put one of them into a file", "--reason-file and --answer-file both read stdin")
	}
	var err error
	if r.Reason, _, err = o.reason.read(ctx, a, cmd); err != nil {
		return err
	}
	answer, given, err := o.answer.read(ctx, a, cmd)
	if given {
		r.Answer = &answer
	}
	return err
}

// complete refuses flags that say nothing where they stand.
func (o *nextOptions) complete(cmd *cobra.Command, r runner.Request) error {
	switch {
	case r.Result == "" && r.Answer == nil && r.Reason != "":
		return usage("add --result failed or blocked", "--reason goes with --result or --answer")
	case o.planOut == "-":
		return usage("name a file", "--plan-out cannot write to stdout, where the answer goes")
	}
	return nil
}

// runApply commits a saved plan. Who reports what is in the file.
func (o *nextOptions) runApply(a *app, cmd *cobra.Command) error {
	for _, name := range []string{"mission", "agent", "worker", "as", "result", "token", "reason", "reason-file",
		"answer", "answer-file", "decision-id", "decision-token", "plan-out"} {
		if cmd.Flags().Changed(name) {
			return usage("leave it out: who reports what is in the plan's file", "--apply and --%s do not go together", name)
		}
	}
	plan, err := a.readFile(cmd.Context(), o.apply, maxPlan)
	if err != nil {
		return unread("name a file that --plan-out wrote", "--apply: ", err)
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	answer, err := project.Apply(cmd.Context(), plan)
	if err != nil {
		return err
	}
	return a.answer(answer)
}
