package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// newLoop groups the verbs about loops.
func newLoop(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Create, run and steer loops",
		Long: `A loop is recurring work under a gate, approvals, limits and a verifier. A tick
takes it one run further: a scheduler fires ticks, or a person does. No lock is held
while gate, work and verifier run, so all other verbs answer at once.

` + "`spec-kitty help writing-loops`" + ` tells all of it.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 1,
		branch{"create", newLoopCreate},
		branch{"validate", newLoopValidate},
		branch{"tick", newLoopTick},
		branch{"check", newLoopCheck},
		branch{"pause", newLoopPause},
		branch{"resume", newLoopResume},
		branch{"approve", func(a *app) *cobra.Command { return newLoopDecide(a, true) }},
		branch{"deny", func(a *app) *cobra.Command { return newLoopDecide(a, false) }},
		branch{"clear", newLoopClear},
		branch{"status", newLoopStatus},
		branch{"log", newLoopLog},
		branch{"diff", newLoopDiff},
		branch{"recover", newLoopRecover},
		branch{"retire", newLoopRetire},
		branch{"remove", newLoopRemove},
		branch{"schedule", newLoopSchedule},
		branch{"doctor", newLoopDoctor},
		branch{"beat", newLoopBeat},
	)
	return cmd
}

// onLoop opens the project's loops for a call about one of them. A configuration that
// cannot be read stops nothing but what needs a definition: work can be stopped while
// somebody edits it.
func (a *app) onLoop(args []string, work func(l *tick.Loops, name string) error) error {
	name := first(args)
	if name == "" {
		return usage("name a loop; `spec-kitty loop status` shows them", "no loop is named")
	}
	return a.onLoops(func(l *tick.Loops) error { return work(l, name) })
}

func (a *app) onLoops(work func(l *tick.Loops) error) error {
	project, err := a.openWith(runner.Options{ToSteer: true})
	if err != nil {
		return err
	}
	defer project.Close()
	o := tick.Options{Getenv: a.getenv}
	if a.tuneLoops != nil {
		a.tuneLoops(&o)
	}
	return work(project.Loops(o))
}

// loopVerb is a verb that answers with one report.
func (a *app) loopVerb(cmd *cobra.Command, args []string, do func(l *tick.Loops, name string) (tick.Report, error)) error {
	return a.onLoop(args, func(l *tick.Loops, name string) error {
		report, err := do(l, name)
		return a.reported(name, report, err)
	})
}

// operated is a verb that an operator is on record for.
func (a *app) operated(cmd *cobra.Command, args []string, as string, do func(l *tick.Loops, name, by string) (tick.Report, error)) error {
	by, err := a.loopOperator(cmd, as)
	if err != nil {
		return err
	}
	return a.loopVerb(cmd, args, func(l *tick.Loops, name string) (tick.Report, error) { return do(l, name, by) })
}

// reported prints a report, or the refusal that an error is.
func (a *app) reported(name string, report tick.Report, err error) error {
	if err != nil {
		refused, ok := tick.Refusal(name, err)
		if !ok {
			return runner.Classify(err)
		}
		refused.Warnings = append(refused.Warnings, report.Warnings...)
		report = refused
	}
	a.code = exitOfReport(report)
	return a.print(report, func() string { return reportText(report) })
}

func reportText(r tick.Report) string {
	var out strings.Builder
	name := r.Loop
	if name == "" { // of none that is known, as outside of a run
		name = "loop"
	}
	fmt.Fprintf(&out, "%s: %s", name, r.Outcome)
	if r.ReasonCode != string(r.Outcome) {
		fmt.Fprintf(&out, " (%s)", r.ReasonCode)
	}
	if r.Reason != "" {
		fmt.Fprintf(&out, ": %s", told(r.Reason))
	}
	out.WriteString("\n")
	for _, w := range r.Warnings {
		fmt.Fprintf(&out, "warning %s: %s\n", w.Code, told(w.Message))
	}
	return printable(out.String())
}

// operatorFlags say who takes an action: a person, else the login name.
func operatorFlags(cmd *cobra.Command, as *string) {
	cmd.Flags().StringVar(as, "as", "", "who does this, as `human:NAME` (default: the login name)")
}

func (a *app) loopOperator(cmd *cobra.Command, as string) (string, error) {
	person, err := who{as: as}.person(cmd)
	if err != nil {
		return "", err
	}
	if person == "" {
		person = login(a.getenv)
	}
	return "human:" + person, nil
}
