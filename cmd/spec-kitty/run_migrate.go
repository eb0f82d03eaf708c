package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// migrateOptions are what `run migrate` is called with.
type migrateOptions struct {
	who
	mission string
	reason  text
	q       runner.MigrateRequest
}

func newRunMigrate(a *app) *cobra.Command {
	var o migrateOptions
	cmd := &cobra.Command{
		Use:   "migrate [MISSION]",
		Short: "Have a run go on by the changed definition",
		Long: `A run goes on with the definition and the plugins that it froze. Migrating has it go
on by those of the project as they are now, and lists what that changes; --dry-run
only lists it. What is complete stays complete, by step id. Work whose step reads
otherwise now is handed out anew to its holder, with a new token and a new prompt.

It is refused where a step that is complete or handed out is not there any more, and
where one of them would wait for a step that is not complete. Where the blocking audit
in hand would be none any more, a person goes over: --as human:NAME.`,
		Example: "  spec-kitty run migrate MISSION [--reason TEXT] [--dry-run]",
		Args:    atMost(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, first(args)) },
	}
	missionFlag(cmd, &o.mission)
	o.who.flags(cmd)
	o.reason.flags(cmd, "reason", "`TEXT`: why, for the record")
	cmd.Flags().BoolVar(&o.q.DryRun, "dry-run", false, "only list what it changes")
	return cmd
}

func (o *migrateOptions) run(a *app, cmd *cobra.Command, mission string) error {
	var err error
	if o.q.Mission, err = a.mission(cmd, mission, o.mission); err != nil {
		return err
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
	done, refused, err := project.Migrate(cmd.Context(), o.q)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return a.answer(*refused)
	}
	return a.print(done, func() string { return migrationText(done) })
}

func migrationText(m runner.Migration) string {
	p := &page{}
	verb := "Migrated"
	if !m.Applied {
		verb = "Would migrate"
	}
	at := "at step " + m.StepID
	if m.StepID == "" {
		at = "at its end"
	}
	if slices.ContainsFunc(m.Warnings, func(w runner.Warning) bool { return w.Code == runner.WarnNothingChanged }) {
		verb = "Nothing to migrate in"
	}
	fmt.Fprintf(p, "%s %s: %s.\n", verb, told(m.MissionSlug), told(at))
	p.line("added", told(strings.Join(m.Added, ", ")))
	p.line("removed", told(strings.Join(m.Removed, ", ")))
	p.line("moved", told(strings.Join(m.Moved, ", ")))
	for _, c := range m.Changed {
		p.line("changed", told(c.StepID+": "+strings.Join(c.Keys, ", ")))
	}
	for _, c := range m.Plugins {
		p.line("plugin", told(pluginChangeText(c)))
	}
	if m.Commands {
		p.line("commands", "changed; `spec-kitty trust` shows what may be run or written")
	}
	for _, i := range m.Reissued {
		p.line("anew", told(strings.TrimSuffix(i.StepID+" "+i.WPID, " ")+" to "+holderText(i.Holder)))
	}
	p.lines("way on", clean(m.Recover))
	p.warnings(m.Warnings)
	return p.String()
}

func pluginChangeText(c runner.PluginChange) string {
	switch {
	case c.From == nil:
		return c.Plugin + ": new, " + said(c.To)
	case c.To == nil:
		return c.Plugin + ": not named any more"
	case *c.From != *c.To:
		return c.Plugin + ": " + *c.From + " to " + *c.To
	}
	return c.Plugin + ": other grants"
}
