package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// rewindOptions are what `run rewind` is called with.
type rewindOptions struct {
	who
	mission string
	reason  text
	q       runner.RewindRequest
}

func newRunRewind(a *app) *cobra.Command {
	var o rewindOptions
	cmd := &cobra.Command{
		Use:   "rewind [MISSION]",
		Short: "Take back what was completed",
		Long:  rewindText,
		Example: `  spec-kitty run rewind MISSION --to-step STEP --reason TEXT [--lanes] [--dry-run]
  spec-kitty run rewind MISSION --to REVISION --reason TEXT [--lanes] [--dry-run]`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, first(args)) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	o.reason.flags(cmd, "reason", "`TEXT`: why, for the record")
	f := cmd.Flags()
	f.StringVar(&o.q.Step, "to-step", "", "to before the completion of `STEP`")
	f.Uint64Var(&o.q.To, "to", 0, "to after `REVISION`")
	f.BoolVar(&o.q.Lanes, "lanes", false, "put the packages back into the lanes where they lay, too")
	f.BoolVar(&o.q.DryRun, "dry-run", false, "only list what it takes back")
	return cmd
}

func (o *rewindOptions) run(a *app, cmd *cobra.Command, mission string) error {
	var err error
	if o.q.Mission, err = a.mission(cmd, mission, o.mission); err != nil {
		return err
	}
	if cmd.Flags().Changed("to") && o.q.To == 0 {
		return usage("`spec-kitty run log` lists the revisions; `spec-kitty run rewind --to 1` goes back to the beginning", "revisions begin with 1: there is none before it to go to")
	}
	if _, o.q.Actor, err = o.who.operator(a, cmd); err != nil {
		return err
	}
	if o.q.Human, err = o.who.person(cmd); err != nil {
		return err
	}
	if o.q.Reason, _, err = o.reason.read(cmd.Context(), a, cmd); err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	done, refused, err := project.Rewind(cmd.Context(), o.q)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return a.answer(*refused)
	}
	return a.print(done, func() string { return rewindingText(done) })
}

func rewindingText(r runner.Rewinding) string {
	p := &page{}
	verb := "Rewound"
	if !r.Applied {
		verb = "Would rewind"
	}
	fmt.Fprintf(p, "%s %s from revision %d to %d: at step %s.\n", verb, told(r.MissionSlug), r.From, r.To, told(r.StepID))
	p.line("taken back", told(strings.Join(r.Completions, ", ")))
	for _, a := range r.Answers {
		p.line("answer", told(a.ID+": "+a.Answer+", by "+a.By))
	}
	for _, l := range r.Lanes {
		p.line("package", told(l.ID+": "+l.From+" to "+l.To))
	}
	for _, i := range r.Ended {
		p.line("void", told(strings.TrimSuffix(i.StepID+" "+i.WPID, " ")+" with "+holderText(i.Holder)))
	}
	for _, l := range r.LanesLeft {
		p.line("stays", told(l.ID+" in lane "+l.Lane))
	}
	p.line("stays", told(strings.Join(r.Artifacts, ", ")))
	p.lines("way on", clean(r.Recover))
	p.warnings(r.Warnings)
	return p.String()
}
