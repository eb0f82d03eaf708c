package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/schedule"
	"github.com/spec-kitty/step-runner/host/tick"
)

// newLoopSchedule groups the verbs about the scheduler that fires a loop.
func newLoopSchedule(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Have a scheduler of the system fire a loop",
		Long: `Tells systemd or cron when to fire a loop, as its definition says, and compares what
they have with it. Nothing else asks or tells them: a paused or halted loop keeps its
schedule, and its ticks skip in milliseconds. For launchd and Windows it prints what
they are to be told.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return noCommand(cmd) },
	}
	a.grow(cmd, 2,
		branch{"print", newLoopSchedulePrint},
		branch{"install", newLoopScheduleInstall},
		branch{"remove", newLoopScheduleRemove},
		branch{"status", newLoopScheduleStatus},
	)
	return cmd
}

// scheduleOptions are the flags of the schedule verbs.
type scheduleOptions struct {
	system, as string
	dry        bool
}

func (o *scheduleOptions) flag(cmd *cobra.Command, usual string) {
	cmd.Flags().StringVar(&o.system, "system", "", "systemd, cron, launchd or schtasks, as `SYSTEM` (default: "+usual+")")
}

func (o *scheduleOptions) changing(cmd *cobra.Command) {
	o.flag(cmd, "the one that has the loop, else systemd where the user has one, else cron")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only show what would change")
	operatorFlags(cmd, &o.as)
}

func newLoopSchedulePrint(a *app) *cobra.Command {
	var o scheduleOptions
	cmd := &cobra.Command{
		Use:   "print NAME",
		Short: "Print what a scheduler would be told",
		Long: `Asks no scheduler and changes nothing. The text names this program by its path, the
project's folder, and the PATH that you have now, since schedulers have none.`,
		Example: "  spec-kitty loop schedule print deps --system launchd > deps.plist",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scheduleVerb(cmd, args, o, (*tick.Loops).PrintSchedule, a.printedText)
		},
	}
	o.flag(cmd, "that of this operating system")
	return cmd
}

func newLoopScheduleInstall(a *app) *cobra.Command {
	var o scheduleOptions
	cmd := &cobra.Command{
		Use:   "install NAME",
		Short: "Have a scheduler fire a loop",
		Long: `Shows what changes, writes it, and asks the scheduler what it has then. Installing
again brings it up to the definition, and to the program and PATH of now. Everything
else that a crontab or a unit folder holds stays as it is, byte for byte.

Scheduled ticks run only what you consented to, on record: see help trust.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scheduleVerb(cmd, args, o, (*tick.Loops).InstallSchedule, scheduleText)
		},
	}
	o.changing(cmd)
	return cmd
}

func newLoopScheduleRemove(a *app) *cobra.Command {
	var o scheduleOptions
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Take a loop out of its scheduler",
		Long:  "Undoes what install did, and no more. A tick that is at work goes on to its end.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scheduleVerb(cmd, args, o, (*tick.Loops).RemoveSchedule, scheduleText)
		},
	}
	o.changing(cmd)
	return cmd
}

func newLoopScheduleStatus(a *app) *cobra.Command {
	var o scheduleOptions
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Compare what a scheduler has with the definition",
		Long: `Asks the scheduler. drift says how what it has differs from what the definition says
and from what was installed; ` + "`loop schedule install`" + ` makes good for it. Always ends
with 0 where the scheduler could be asked.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scheduleVerb(cmd, args, o, (*tick.Loops).ScheduleStatus, scheduleText)
		},
	}
	o.flag(cmd, "the one that has the loop, else systemd where the user has one, else cron")
	return cmd
}

func (a *app) scheduleVerb(cmd *cobra.Command, args []string, o scheduleOptions,
	do func(*tick.Loops, context.Context, tick.ScheduleRequest) (tick.Schedule, error), text func(tick.Schedule) string) error {
	system := schedule.System(o.system)
	if system != "" && !slices.Contains(schedule.Systems(), system) {
		return usage("use systemd, cron, launchd or schtasks", "there is no scheduler %q", o.system)
	}
	by, err := a.loopOperator(cmd, o.as)
	if err != nil {
		return err
	}
	return a.onLoop(args, func(l *tick.Loops, name string) error {
		s, err := do(l, cmd.Context(), tick.ScheduleRequest{Loop: name, Who: by, System: system, DryRun: o.dry})
		if err != nil {
			return a.reported(name, tick.Report{}, err)
		}
		return a.print(s, func() string { return text(s) })
	})
}

// printedText is the text alone, so that it can be written to a file; what a person
// has to know beside it goes to stderr.
func (a *app) printedText(s tick.Schedule) string {
	for _, note := range s.Notes {
		fmt.Fprintf(a.err, "%s\n", printable(note))
	}
	var out strings.Builder
	for i, u := range s.Units {
		if len(s.Units) > 1 { // as systemctl cat does
			fmt.Fprintf(&out, "%s# %s\n", strings.Repeat("\n", min(i, 1)), u.Name)
		}
		out.WriteString(u.Text)
	}
	if isTerminal(a.out) {
		return printable(out.String())
	}
	return out.String() // exactly as the scheduler must read it
}

func scheduleText(s tick.Schedule) string {
	p := &page{}
	for _, c := range s.Changes {
		fmt.Fprintln(p, told(c.Path))
		for _, line := range changedLines(c.Before, c.After) {
			fmt.Fprintln(p, "  "+told(line))
		}
	}
	fmt.Fprintln(p, told(fmt.Sprintf("%s: %s (%s)", s.Loop, s.Reason, s.ReasonCode)))
	p.line("scheduler", told(string(s.System)))
	p.line("state", told(s.State))
	p.line("next", told(s.Next))
	p.line("next due", s.NextDue)
	for _, text := range s.Drift {
		p.line("drift", told(text))
	}
	for _, text := range s.Notes {
		p.line("note", told(text))
	}
	for _, w := range s.Warnings {
		p.line("warning", told(w.Code+": "+w.Message))
	}
	return printable(p.String())
}

// changedLines are the lines that a change takes out and puts in, between those
// that both texts begin and end with.
func changedLines(before, after *string) []string {
	from, to := linesOf(before), linesOf(after)
	for len(from) > 0 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	var out []string
	for _, line := range from {
		out = append(out, "- "+line)
	}
	for _, line := range to {
		out = append(out, "+ "+line)
	}
	return out
}

func linesOf(text *string) []string {
	if text == nil || *text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(*text, "\n"), "\n")
}
