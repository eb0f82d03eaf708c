package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newRunVerify(a *app) *cobra.Command {
	var mission string
	cmd := &cobra.Command{
		Use:   "verify [MISSION]",
		Short: "Read a whole run and check it",
		Long: `Checks every record of the latest run, or of the run of an id, their chain, the state against them, and
the frozen files against their digests. It mends nothing. A run that is not
sound ends with exit code 5. An index of a definition that is missing, or not its, is a
warning: ` + "`" + `spec-kitty doctor --repair` + "`" + ` makes it anew.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onMission(cmd, args, mission, func(project *runner.Project, handle string) error {
				found, err := project.Verify(cmd.Context(), handle)
				if err != nil {
					return err
				}
				a.code = exitOfCheck(found.Sound, exitDamaged)
				return a.print(found, func() string { return verifyText(found) })
			})
		},
	}
	missionFlag(cmd, &mission)
	return cmd
}

func verifyText(v runner.Verification) string {
	var out strings.Builder
	if v.Sound {
		fmt.Fprintf(&out, "Run %s is sound: %d records, %d bytes; its state file is %s.\n", v.RunID, v.Records, v.Length, v.View)
	} else {
		fmt.Fprintf(&out, "Run %s is not sound:\n", v.RunID)
	}
	for _, problem := range v.Problems {
		fmt.Fprintf(&out, "  %s\n", problem)
	}
	switch {
	case v.Tail > 0 && !v.Sound:
		fmt.Fprintf(&out, "%d bytes follow the %d whole records; nothing cuts them, since what was acknowledged may be among them.\n", v.Tail, v.Records)
	case v.Tail > 0:
		fmt.Fprintf(&out, "%d bytes at the end were never acknowledged; the next writer cuts them.\n", v.Tail)
	}
	p := &page{}
	p.WriteString(printable(out.String()))
	p.warnings(v.Warnings)
	return p.String()
}
