package main

import (
	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

type moveOptions struct {
	who
	mission string
	to      string
	token   string
	force   bool
	reason  text
}

func newWPMove(a *app) *cobra.Command {
	var o moveOptions
	cmd := &cobra.Command{
		Use:   "move WP --to LANE",
		Short: "Move a work package to another lane",
		Long: `Moves a work package along one edge; a refusal lists the lanes that it may go to.
With --force and a reason it goes anywhere, and the record says so. Moving a
package that is handed out ends that work: with its --token, or with --force. No
step is completed by a move; the next report does that.

With --agent or --as the package is with that holder in claimed, in_progress and
in_review; without, it is with nobody there, or stays with whoever had it.`,
		Example: `  spec-kitty wp move WP01 --to LANE --mission M [--agent A | --as human:NAME] [--token T]
  spec-kitty wp move WP01 --to LANE --mission M --force --reason TEXT`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, first(args)) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "the `LANE`: planned, claimed, in_progress, for_review, in_review, approved, done, blocked or canceled")
	f.StringVar(&o.token, "token", "", "the token `T` that the package was handed out with")
	f.BoolVar(&o.force, "force", false, "move it off the edges, or out of somebody's hands; wants a reason")
	o.reason.flags(cmd, "reason", "`TEXT`: why, for the record")
	return cmd
}

func (o *moveOptions) run(a *app, cmd *cobra.Command, id string) error {
	q := runner.OperatorRequest{Package: id, To: o.to, Token: o.token, Force: o.force}
	var err error
	if o.to == "" {
		return usage("add --to LANE", "no lane is named")
	}
	if q.Caller, err = o.who.caller(a, cmd); err != nil {
		return err
	}
	if q.Caller == (runner.Caller{}) {
		q.Actor = "human:" + login(a.getenv)
	}
	if q.Reason, _, err = o.reason.read(cmd.Context(), a, cmd); err != nil {
		return err
	}
	return a.onMission(cmd, nil, o.mission, func(p *runner.Project, handle string) error {
		q.Mission = handle
		answer, err := p.WPMove(cmd.Context(), q)
		if err != nil {
			return err
		}
		return a.answerDone(answer, "Moved "+id+" to "+o.to+".")
	})
}
