package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// operateOptions are what the operator's verbs have in common.
type operateOptions struct {
	who
	mission string
	pack    string
	token   string
	asked   string // the decision
	step    string
	reason  text
	discard bool
	done    string // what people are told that was done; "": the answer says it
}

func (o *operateOptions) flags(cmd *cobra.Command) {
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	o.reason.flags(cmd, "reason", "`TEXT`: why, for the record")
}

// operator is a verb of runner.Project.
type operator func(*runner.Project, context.Context, runner.OperatorRequest) (runner.Answer, error)

func (o *operateOptions) run(a *app, cmd *cobra.Command, mission string, verb operator) error {
	q := runner.OperatorRequest{Package: o.pack, Token: o.token, Step: o.step, Discard: o.discard, Decision: o.asked}
	var err error
	if q.Mission, err = a.mission(cmd, mission, o.mission); err != nil {
		return err
	}
	if q.Caller, q.Actor, err = o.who.operator(a, cmd); err != nil {
		return err
	}
	if q.Reason, _, err = o.reason.read(cmd.Context(), a, cmd); err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	answer, err := verb(project, cmd.Context(), q)
	if err != nil {
		return err
	}
	return a.answerDone(answer, o.done)
}
