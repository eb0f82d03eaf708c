package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/mission"
	"github.com/spec-kitty/step-runner/host/runner"
)

func newMissionShow(a *app) *cobra.Command {
	var o which
	cmd := &cobra.Command{
		Use:   "show [TYPE]",
		Short: "Show a mission type step by step",
		Long: `Shows the steps in order, with what they wait for, their inputs, guards, executor
and package rules. With --mission it is the definition that the mission's run
goes by, which may be older than the file.`,
		Example: "  spec-kitty mission show [TYPE | --mission M]",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.open(a, cmd, args, func(project *runner.Project, which runner.Which) error {
				shown, err := project.Definition(cmd.Context(), which)
				if err != nil {
					return err
				}
				return a.print(shown, func() string { return definitionText(shown) })
			})
		},
	}
	o.flags(cmd)
	return cmd
}

// which is the definition that a call is about.
type which struct{ mission string }

func (o *which) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.mission, "mission", "", "the definition of the mission `M`, by its folder, number or the beginning of its id")
}

// open opens the project and says which definition is meant: the type that the
// argument names, the mission of the flag or the environment, or the only type.
func (o *which) open(a *app, cmd *cobra.Command, args []string, work func(*runner.Project, runner.Which) error) error {
	found := runner.Which{Type: first(args)}
	switch {
	case len(args) > 0 && found.Type == "":
		return usage("name a mission type, or leave it out", "TYPE is empty")
	case found.Type != "" && cmd.Flags().Changed("mission"):
		return usage("leave one of them out", "the argument names the type %q, --mission the mission %q", found.Type, o.mission)
	case found.Type == "" && (cmd.Flags().Changed("mission") || a.getenv("SPEC_KITTY_MISSION") != ""):
		var err error
		if found.Mission, err = a.mission(cmd, "", o.mission); err != nil {
			return err
		}
	}
	project, err := a.open()
	if err != nil {
		return err
	}
	defer project.Close()
	return work(project, found)
}

func definitionText(d runner.Definition) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s %s, %d steps", d.MissionType, d.Definition.Name, d.Definition.Version, len(d.Definition.Steps))
	switch {
	case d.RunID != nil:
		fmt.Fprintf(&out, ", as the run %s froze it\n", *d.RunID)
	default:
		fmt.Fprintf(&out, ", in %s\n", d.Path)
	}
	for i, step := range d.Definition.Steps {
		stepText(&out, i+1, step)
	}
	return printable(out.String())
}

func stepText(out *strings.Builder, number int, s runner.StepDetail) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "      %-9s %s\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
	fmt.Fprintf(out, "\n%3d. %s", number, s.ID)
	if s.Title != s.ID {
		fmt.Fprintf(out, "  %s", s.Title)
	}
	out.WriteString("\n")
	if len(s.DependsOn) > 0 {
		line("after", "%s", strings.Join(s.DependsOn, ", "))
	}
	if s.Audit != nil {
		line("audit", "%s", auditText(*s.Audit))
	}
	if p := s.Prompt; p != nil {
		line("prompt", "%s", cmp.Or(p.Path, fmt.Sprintf("in the definition, %d bytes", p.Bytes)))
	}
	for _, in := range s.Inputs {
		line("input", "%s", inputText(in))
	}
	if e := s.Executor; e != nil {
		auto := ""
		if e.Auto {
			auto = ", by itself"
		}
		line("executor", "%s%s%s", e.Plugin, settingsText(e.With), auto)
	}
	for _, g := range s.Guards {
		line("guard", "%s %s%s", g.Kind, g.Name, settingsText(g.Settings))
	}
	if p := s.Packages; p != nil {
		packagesText(line, *p)
	}
	if s.Retry > 0 {
		line("retry", "%d", s.Retry)
	}
}

func auditText(a runner.AuditDetail) string {
	text := a.Enforcement
	if a.Question != "" {
		text += ": " + a.Question
	}
	if a.OnReject != "" {
		text += " (rejected: back to " + a.OnReject + ")"
	}
	return text
}

func inputText(in runner.InputDetail) string {
	text := in.Key
	if in.Question != "" {
		text += ": " + in.Question
	}
	if len(in.Options) > 0 {
		text += " [" + strings.Join(in.Options, " | ") + "]"
	}
	if in.Default != nil {
		text += " (not asked: " + *in.Default + ")"
	}
	return text
}

func packagesText(line func(name, format string, args ...any), p runner.PackageDetail) {
	line("packages", "from %s to %s; success: %s, failed: %s", laneText(p.Take), p.Claim, p.Success, p.Failed)
	line("until", "all are in %s", laneText(p.Until))
	if len(p.Also) > 0 {
		line("also", "what %s would take", strings.Join(p.Also, ", "))
	}
	if p.AllowNone {
		line("", "no package at all is enough")
	}
	if p.SelfReview {
		line("", "authors may review their own")
	}
}

func laneText(all []mission.Lane) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = string(l)
	}
	return strings.Join(names, ", ")
}

func settingsText(settings map[string]any) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if value := settings[key]; fmt.Sprint(value) != "1" || key != "min_bytes" && key != "min_count" {
			parts = append(parts, key+" = "+valueText(value))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// valueText is a text as it is, and everything else as JSON.
func valueText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
