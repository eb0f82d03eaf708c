package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newDoctor(a *app) *cobra.Command {
	var repair string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at all runs and what is around them; mend one",
		Long: `Reads every run, the index of runs, the plugins and their pins, the engine that
runs them and its cache, the lock files, the file system and the clock, and says
what is not as it should be and what to do. It changes nothing. Where a run is damaged, or of a newer
version, it ends with exit code 5. What cannot be looked at is a finding; all else is looked at.

--repair mends one run: it makes the state file, the definition's index and the
run's index entry anew, writes prompts of open work that are missing, cuts what
was never acknowledged, and removes temporary files. Before that it copies the run to the folder backups. It changes no
record: a damaged journal is explained and left as it is, and events that this
version does not know are kept. What could not be written is not_recorded, exit code 1.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("repair") && repair == "" {
				return usage("name a run as `spec-kitty run list` does", "--repair is empty")
			}
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			var d runner.Diagnosis
			if repair == "" {
				d, err = project.Doctor(cmd.Context())
			} else {
				d, err = project.Repair(cmd.Context(), repair)
			}
			if err != nil {
				return err
			}
			a.code = exitOfCheck(d.Healthy, exitDamaged)
			return a.print(d, func() string { return doctorText(d) })
		},
	}
	cmd.Flags().StringVar(&repair, "repair", "", "mend one `RUN`: its id, or its mission")
	return cmd
}

func doctorText(d runner.Diagnosis) string {
	var out strings.Builder
	if d.Repair != nil {
		out.WriteString(repairText(*d.Repair) + "\n")
	}
	for _, h := range d.RunHealth {
		fmt.Fprintf(&out, "%s  %s  %s\n", h.RunID, h.MissionSlug, healthText(h))
	}
	held := 0
	for _, l := range d.Locks {
		if l.Held {
			held++
			fmt.Fprintf(&out, "%s is held by a process that lives\n", l.File)
		}
	}
	fmt.Fprintf(&out, "%d runs, %d plugins, %d locks held; file system %s\n", len(d.RunHealth), len(d.Plugins), held, cmp.Or(d.FileSystem.Kind, "not known"))
	fmt.Fprintf(&out, "plugins run in the %s; code of %d with %d bytes is kept\n", d.Engine, d.Cache.Codes, d.Cache.Bytes)
	for _, f := range d.Findings {
		fmt.Fprintf(&out, "\n%s %s: %s\n  %s\n", f.Level, f.Code, f.Message, f.Fix)
	}
	if len(d.Findings) == 0 {
		out.WriteString("Nothing is wrong.\n")
	}
	return printable(out.String())
}

func healthText(h runner.RunHealth) string {
	counts := fmt.Sprintf("%d records, state file %s", h.Counts.Records, h.Counts.View)
	switch {
	case h.Damaged:
		return fmt.Sprintf("damaged after %d whole records", h.Counts.Records)
	case h.Newer:
		return "of a newer version, " + counts
	}
	return "at " + h.MissionState + ", " + counts
}

func repairText(r runner.Repair) string {
	if len(r.Done) == 0 {
		return "There was nothing to repair in run " + r.RunID + ".\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Repaired run %s:\n", r.RunID)
	for _, done := range r.Done {
		fmt.Fprintf(&out, "  %s\n", done)
	}
	fmt.Fprintf(&out, "  before: %s\n  after:  %s\n", countsText(r.Before), countsText(r.After))
	if r.Backup != nil {
		fmt.Fprintf(&out, "  the run as it was: %s\n", *r.Backup)
	}
	return out.String()
}

func countsText(c runner.Counts) string {
	return fmt.Sprintf("%d records in %d bytes, %d bytes after them, state file %s, %d temporary files", c.Records, c.Length, c.Tail, c.View, c.Leftovers)
}
