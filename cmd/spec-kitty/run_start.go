package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

type startOptions struct {
	who
	mission string
	typ     string
	inputs  []string
	again   bool
	adopt   bool
}

func newRunStart(a *app) *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:     "start SLUG",
		Short:   "Start a run of a mission",
		Long:    "Starts a run. The mission's folder and its meta.json are made where they are\nmissing. With --agent or --as the first step is handed out in the same commit. With --adopt\nthe mission's run of the Python program is taken over: its completed steps, inputs\nand answers. What is handed out there is handed out anew.",
		Example: "  spec-kitty run start SLUG [--type TYPE] [--input KEY=VALUE]... [--agent A] [--again] [--adopt]",
		Args:    atMost(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.typ, "type", "", "the mission `TYPE` (default: what meta.json says, else the only one defined)")
	f.StringArrayVar(&o.inputs, "input", nil, "an input as `KEY=VALUE`, which is then not asked; may be repeated")
	f.BoolVar(&o.again, "again", false, "start anew where the last run is over, or its folder is gone for good")
	f.BoolVar(&o.adopt, "adopt", false, "take over the mission's run under .kittify/runtime, which is only read")
	return cmd
}

func (o *startOptions) run(a *app, cmd *cobra.Command, args []string) error {
	q := runner.StartRequest{Type: o.typ, Again: o.again, Adopt: o.adopt}
	var err error
	if q.Slug, err = a.mission(cmd, first(args), o.mission); err != nil {
		return err
	}
	if q.Caller, err = o.who.caller(a, cmd); err != nil {
		return err
	}
	if q.Inputs, err = pairs(o.inputs); err != nil {
		return err
	}
	if q.Caller == (runner.Caller{}) {
		q.Actor = "human:" + login(a.getenv)
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	answer, err := project.Start(cmd.Context(), q)
	if err != nil {
		return err
	}
	return a.answer(answer)
}

// pairs reads KEY=VALUE; the value may hold anything.
func pairs(inputs []string) (map[string]string, error) {
	read := make(map[string]string, len(inputs))
	for _, input := range inputs {
		key, value, ok := strings.Cut(input, "=")
		if !ok || key == "" {
			return nil, usage("write --input KEY=VALUE", "--input %q is no KEY=VALUE", input)
		}
		if _, twice := read[key]; twice {
			return nil, usage("give each input once", "--input %s is given twice", key)
		}
		read[key] = value
	}
	return read, nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
