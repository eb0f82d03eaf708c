package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

func newLoopPause(a *app) *cobra.Command {
	var as, reason, until string
	var now, wait bool
	cmd := &cobra.Command{
		Use:   "pause NAME",
		Short: "Let no further run begin",
		Long: `Answers at once, also while a run is at work: the run goes on to its end, and its end
does not undo the pause. --now ends it as canceled. --wait returns once it has ended.`,
		Example: "  spec-kitty loop pause deps --reason 'release week' --until 2026-12-24T00:00:00Z",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := a.loopOperator(cmd, as)
			if err != nil {
				return err
			}
			at, err := instant("until", until)
			if err != nil {
				return err
			}
			return a.loopVerb(cmd, args, func(l *tick.Loops, name string) (tick.Report, error) {
				return l.Pause(cmd.Context(), tick.PauseRequest{Loop: name, Who: by, Reason: reason, Until: at, Now: now, Wait: wait})
			})
		},
	}
	operatorFlags(cmd, &as)
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "why, as `TEXT`")
	f.StringVar(&until, "until", "", "the pause ends by itself at `TIME` (RFC 3339), or after a duration such as 2h")
	f.BoolVar(&now, "now", false, "end the run that is at work as canceled")
	f.BoolVar(&wait, "wait", false, "wait until the run that is at work has ended")
	return cmd
}

// instant is a time, or a duration from now.
func instant(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return time.Now().Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usage("write it as 2026-12-24T18:00:00Z, or as a duration such as 90m", "--%s %q is no time", flag, text)
	}
	return at, nil
}

func newLoopResume(a *app) *cobra.Command {
	var as, reason string
	cmd := &cobra.Command{
		Use:   "resume NAME",
		Short: "End a pause",
		Long:  "Ends a pause. A halted loop is not resumed but cleared, by the code of its halt. A\ncancel of --now is not taken back.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) {
				return l.Resume(cmd.Context(), name, by, reason)
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`")
	return cmd
}

// newLoopDecide is approve, or deny.
func newLoopDecide(a *app, approve bool) *cobra.Command {
	var as, id, note string
	verb, short, what := "approve", "Grant what a loop asks for", "The next tick goes on with it: the grant is for exactly what was shown, once, and it\nexpires."
	if !approve {
		verb, short, what = "deny", "Refuse what a loop asks for", "The loop is halted until somebody clears it."
	}
	cmd := &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Long:  "Without --id it shows what is asked, with the whole command, and ends with exit code 2.\n" + what + " A run cannot decide on its own work.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := a.loopOperator(cmd, as)
			if err != nil {
				return err
			}
			if id == "" {
				return a.onLoop(args, func(l *tick.Loops, name string) error { return a.whatIsAsked(cmd, l, name, verb) })
			}
			return a.loopVerb(cmd, args, func(l *tick.Loops, name string) (tick.Report, error) {
				if approve {
					return l.Approve(cmd.Context(), name, by, id, note)
				}
				return l.Deny(cmd.Context(), name, by, id, note)
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().StringVar(&id, "id", "", "the `ID` of the request that you looked at")
	cmd.Flags().StringVar(&note, "note", "", "`TEXT` for the record")
	return cmd
}

// whatIsAsked shows a request. Deciding needs its id, so that nobody decides on
// what they did not see.
func (a *app) whatIsAsked(cmd *cobra.Command, l *tick.Loops, name, verb string) error {
	status, err := l.Status(cmd.Context(), name)
	if err != nil {
		return a.reported(name, tick.Report{}, err)
	}
	asked := status.Approval
	if asked == nil || asked.State != "open" {
		return a.reported(name, tick.Report{}, tick.NothingWaiting())
	}
	line := "spec-kitty loop " + verb + " " + name + " --id " + asked.ID
	e := usage("look at it (`spec-kitty loop diff "+name+"`), then `"+line+"`", "no request is named; the open one is %s", asked.ID)
	e.Candidates = []string{asked.ID}
	if !a.json {
		rows, err := l.Described(cmd.Context(), name, asked.Subject)
		if err != nil {
			rows = []tick.Row{{Name: "not shown", Text: err.Error()}}
		}
		if err := noError(a.write([]byte(printable(askedText(name, *asked, rows, line))))); err != nil {
			return err
		}
	}
	return e
}

func askedText(name string, q tick.Approval, rows []tick.Row, line string) string {
	var out strings.Builder
	s := q.Subject
	fmt.Fprintf(&out, "Run %d of loop %s asks whether to %s, until %s.\n", q.Token, name, s.Stage, q.Expires)
	for _, row := range rows {
		fmt.Fprintf(&out, "  %-12s %s\n", row.Name, told(row.Text))
	}
	for _, row := range [][2]string{{"request", q.ID}, {"digest", q.Digest}, {"definition", s.Definition}, {"branch at", s.Base}, {"result", s.Result}, {"tree", s.Tree}, {"verified", s.Verify}} {
		if row[1] != "" {
			fmt.Fprintf(&out, "  %-12s %s\n", row[0], row[1])
		}
	}
	for _, file := range s.Protected {
		fmt.Fprintf(&out, "  %-12s %s\n", "protected", told(file))
	}
	if s.Goal {
		out.WriteString("  The loop's goal is met with it.\n")
	}
	fmt.Fprintf(&out, "\n    %s\n", line)
	return out.String()
}

func newLoopClear(a *app) *cobra.Command {
	var as, code, reason string
	var reset bool
	cmd := &cobra.Command{
		Use:   "clear NAME --code CODE",
		Short: "Let a halted loop, or one that is done, go on",
		Long:  "Takes a halt away, by the code that `spec-kitty loop status` shows: a halt that came\nafter it is not cleared with it. --reset begins the counters anew, but for totals.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if code == "" {
				return usage("`spec-kitty loop status NAME` shows the code", "--code is missing")
			}
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) {
				return l.Clear(cmd.Context(), name, by, code, reason, reset)
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().StringVar(&code, "code", "", "the `CODE` of the halt, or done")
	cmd.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`")
	cmd.Flags().BoolVar(&reset, "reset", false, "begin the counters anew")
	return cmd
}

func newLoopRecover(a *app) *cobra.Command {
	var as, reason string
	var dry, dead bool
	cmd := &cobra.Command{
		Use:   "recover NAME",
		Short: "End what a dead tick left, as the next tick would",
		Long: `Ends a claim whose runner is dead, kills what its run left running, finishes a
landing that was begun. --dry-run says what would be done.

Processes of another machine, or that cannot be told from others, are never killed:
the loop waits for them as orphan_alive. --assume-dead --reason TEXT is a person's
word that they are gone; those that are seen alive are not believed dead.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dead && reason == "" {
				return usage("add --reason TEXT", "--assume-dead needs a reason")
			}
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) {
				return l.Recover(cmd.Context(), tick.RecoverRequest{Loop: name, Who: by, DryRun: dry, AssumeDead: dead, Reason: reason})
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&dead, "assume-dead", false, "take it that processes which cannot be told apart are dead")
	cmd.Flags().StringVar(&reason, "reason", "", "how that is known, as `TEXT`")
	return cmd
}

func newLoopRetire(a *app) *cobra.Command {
	var as, reason string
	var now bool
	cmd := &cobra.Command{
		Use:   "retire NAME",
		Short: "End a loop for good",
		Long:  "Nothing begins any more. A run that is at work goes on to its end, unless --now.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) {
				return l.Retire(cmd.Context(), name, by, reason, now)
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`")
	cmd.Flags().BoolVar(&now, "now", false, "end the run that is at work as canceled")
	return cmd
}

func newLoopRemove(a *app) *cobra.Command {
	var as string
	var force bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a retired loop: its state and its worktrees",
		Long:  "Only a retired loop that has no run is removed. Commits of its runs that lie on no\nbranch are kept unless --force gives them up. The loop's branch stays.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.operated(cmd, args, as, func(l *tick.Loops, name, by string) (tick.Report, error) {
				return l.Remove(cmd.Context(), name, by, force)
			})
		},
	}
	operatorFlags(cmd, &as)
	cmd.Flags().BoolVar(&force, "force", false, "also where commits of runs lie on no branch")
	return cmd
}

// loopDiff is what `loop diff` prints with --json.
type loopDiff struct {
	Schema int    `json:"schema"`
	Loop   string `json:"loop"`
	From   string `json:"from"`
	To     string `json:"to"`
	Diff   string `json:"diff"`
}

func newLoopDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what a loop would land",
		Long:  "The difference from the loop's branch to the result that a person is asked about, or\nelse to the newest result that did not land.",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onLoop(args, func(l *tick.Loops, name string) error {
				from, to, text, err := l.Diff(cmd.Context(), name)
				if err != nil {
					return a.reported(name, tick.Report{}, err)
				}
				if text == "" {
					text = "Nothing waits to be landed.\n"
				}
				return a.print(loopDiff{Schema: runner.Schema, Loop: name, From: from, To: to, Diff: text}, func() string { return printable(text) })
			})
		},
	}
}
