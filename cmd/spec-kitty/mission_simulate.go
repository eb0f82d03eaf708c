package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/simulate"
)

// maxSimulated is the greatest number of packages of a simulation.
const maxSimulated = 1000

type simulateOptions struct {
	fail     []string
	block    []string
	answers  string
	packages int
	lanes    []string
}

func newMissionSimulate(a *app) *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate [TYPE]",
		Short: "Walk a mission type with scripted results",
		Long: `Walks a mission type as a run would, in memory: it prints each call, what it leads
to, where it ends and why. Every report succeeds, unless --fail or --block says
otherwise; questions without an answer in --answers get one that is accepted.
Guards on files, plugins and executors are taken to agree, and listed. Nothing is
written and no run is made. If the mission's end is not reached, it ends with
exit code 1.

A file of answers is TOML: an input or a decision id, and a text or, for one
asking after the other, a list of texts:

    owner = "kim"
    "audit:release" = ["reject", "approve"]`,
		Example: "  spec-kitty mission simulate [TYPE] [--fail STEP[:N]]... [--block STEP]... [--answers FILE]\n" +
			"      [--packages N | --lanes WP01=for_review,...]",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.fail, "fail", nil, "the first N reports on a step fail, without N all, as `STEP[:N]`; may be repeated")
	f.StringArrayVar(&o.block, "block", nil, "the next report on the `STEP` is blocked; may be repeated")
	f.StringVar(&o.answers, "answers", "", "a `FILE` of answers")
	f.IntVar(&o.packages, "packages", 0, "`N` work packages, all planned (default: 2, where a step works on packages)")
	f.StringSliceVar(&o.lanes, "lanes", nil, "work packages and the lanes they begin in, as `WP=LANE,...`")
	return cmd
}

func (o *simulateOptions) run(a *app, cmd *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "" {
		return usage("name a mission type, or leave it out", "TYPE is empty")
	}
	script, err := o.script(cmd)
	if err != nil {
		return err
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	walked, err := project.Simulate(cmd.Context(), first(args), script)
	if err != nil {
		return err
	}
	a.code = exitOfCheck(walked.Finished(), exitRefused)
	return a.print(walked, func() string { return walkText(walked) })
}

func (o *simulateOptions) script(cmd *cobra.Command) (simulate.Script, error) {
	script := simulate.Script{Fail: map[string]int{}, Block: map[string]bool{}}
	for _, text := range o.fail {
		step, n, err := failure(text)
		if err != nil {
			return script, err
		}
		if _, twice := script.Fail[step]; twice {
			return script, usage("name each step once", "--fail names step %s twice", step)
		}
		script.Fail[step] = n
	}
	for _, step := range o.block {
		script.Block[step] = true
	}
	var err error
	if cmd.Flags().Changed("answers") {
		if script.Answers, err = runner.Answers(o.answers); err != nil {
			return script, err
		}
	}
	script.Packages, err = o.simulated(cmd)
	return script, err
}

// failure reads STEP[:N].
func failure(text string) (step string, n int, err error) {
	step, times, counted := strings.Cut(text, ":")
	if !counted {
		return step, simulate.Always, nil
	}
	n, err = strconv.Atoi(times)
	if err != nil || n < 1 {
		return "", 0, usage("write --fail STEP, or --fail STEP:N with N from 1 on", "--fail %q: %q is no number of failures", text, times)
	}
	return step, n, nil
}

// simulated are the packages of the flags; nil where none speaks of them.
func (o *simulateOptions) simulated(cmd *cobra.Command) ([]simulate.Package, error) {
	byNumber, byLane := cmd.Flags().Changed("packages"), cmd.Flags().Changed("lanes")
	switch {
	case byNumber && byLane:
		return nil, usage("leave one of them out", "--packages and --lanes both say which packages there are")
	case byNumber && (o.packages < 0 || o.packages > maxSimulated):
		return nil, usage("use 0 to "+strconv.Itoa(maxSimulated), "--packages %d is no number of packages", o.packages)
	case byNumber:
		return runner.Packages(o.packages), nil
	case !byLane:
		return nil, nil
	}
	all := []simulate.Package{}
	for _, text := range o.lanes {
		id, name, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usage("write --lanes WP01=for_review,WP02=planned", "--lanes: %q is no PACKAGE=LANE", text)
		}
		lane, known := mission.ParseLane(name)
		if !known {
			lane = mission.Lane(name) // for the refusal to name it
		}
		all = append(all, simulate.Package{ID: id, Lane: lane})
	}
	return all, nil
}
