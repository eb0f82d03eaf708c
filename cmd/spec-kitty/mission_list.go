package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

func newMissionList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the mission types, and the missions with their state",
		Long: `Lists the mission types that are defined, and the missions in the specs folder
with type, number and the state of their latest run. What is invalid or damaged
is marked, and the others are listed all the same.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			project, err := a.open()
			if err != nil {
				return err
			}
			defer project.Close()
			found, err := project.Missions(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(found, func() string { return missionsText(found) })
		},
	}
}

func missionsText(l runner.MissionList) string {
	var out strings.Builder
	out.WriteString("Types:\n")
	for _, t := range l.Types {
		if !t.Valid {
			fmt.Fprintf(&out, "  %s  invalid: %s\n", t.Type, indented(t.Error))
			continue
		}
		fmt.Fprintf(&out, "  %s  %s %s, %d steps, in %s\n", t.Type, t.Name, t.Version, t.Steps, t.Path)
	}
	if len(l.Types) == 0 {
		out.WriteString("  none yet; [missions.TYPE] in spec-kitty.toml defines one\n")
	}
	out.WriteString("Missions:\n")
	for _, m := range l.Missions {
		fmt.Fprintf(&out, "  %s  %s  %s\n", cmp.Or(m.MissionSlug, "?"), cmp.Or(m.MissionType, "no type"), m.MissionState)
		if m.Error != "" {
			fmt.Fprintf(&out, "    %s\n", indented(m.Error))
		}
	}
	if len(l.Missions) == 0 {
		out.WriteString("  none yet; `spec-kitty run start SLUG` makes one\n")
	}
	return printable(out.String())
}

// indented keeps the further lines of an error below its first one.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }
