package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

func newLoopCreate(a *app) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a loop that spec-kitty.toml defines",
		Long:  "Makes the loop's state folder. No schedule fires the loop yet, and no lock is taken.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) { return l.Create(cmd.Context(), name, by) })
		},
	}
	operatorFlags(cmd, &as)
	return cmd
}

// loopValidation is what `loop validate` prints.
type loopValidation struct {
	Schema int                `json:"schema"`
	Loops  []runner.LoopCheck `json:"checked_loops"`
}

func newLoopValidate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [NAME]",
		Short: "Check the definition of a loop, or of all",
		Long:  "Reads definitions and tells all that is wrong with them at once. It runs nothing.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			rows, err := project.CheckLoops(first(args))
			if err != nil {
				return err
			}
			return a.print(loopValidation{Schema: runner.Schema, Loops: list(rows)}, func() string { return validatedText(rows) })
		},
	}
}

func validatedText(rows []runner.LoopCheck) string {
	if len(rows) == 0 {
		return "No loops are defined; `spec-kitty help writing-loops` shows one.\n"
	}
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "%s is valid: branch %s, %s\n", r.Loop, r.Branch, r.Path)
	}
	return printable(out.String())
}
