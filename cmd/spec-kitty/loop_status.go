package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// loopStatus is what `loop status` prints with --json.
type loopStatus struct {
	Schema int           `json:"schema"`
	Loops  []tick.Status `json:"loops"`
}

func newLoopStatus(a *app) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show how a loop, or every loop, stands, and what happens next",
		Long: `Says what is believed of the loop, why, and what happens next. It takes no lock and
writes nothing. A loop that is not there ends with 4, one whose state is damaged
with 5; of all loops together it always ends with 0.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch && a.json {
				return usage("leave one of them out", "--watch is for people, --json prints one document")
			}
			return a.onLoops(func(l *tick.Loops) error {
				if !watch {
					return a.showLoops(cmd.Context(), l, first(args))
				}
				return a.watchLoops(cmd.Context(), l, first(args))
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it anew every two seconds, until interrupted")
	return cmd
}

func (a *app) showLoops(ctx context.Context, l *tick.Loops, name string) error {
	if name != "" {
		status, err := l.Status(ctx, name)
		if err != nil && !tick.Broken(err) {
			return a.reported(name, tick.Report{}, err)
		}
		if err != nil {
			a.code = exitDamaged
		}
		return a.print(loopStatus{Schema: runner.Schema, Loops: []tick.Status{status}}, func() string { return loopText(status) })
	}
	names, err := l.All(ctx)
	if err != nil {
		return runner.Classify(err)
	}
	all := []tick.Status{}
	for _, name := range names {
		status, _ := l.Status(ctx, name) // its fault is in the status
		all = append(all, status)
	}
	return a.print(loopStatus{Schema: runner.Schema, Loops: all}, func() string { return loopsText(all) })
}

func (a *app) watchLoops(ctx context.Context, l *tick.Loops, name string) error {
	for {
		if err := a.showLoops(ctx, l, name); err != nil {
			return err
		}
		if !isTerminal(a.out) {
			return nil // one page is enough for a file
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		if err := noError(a.write([]byte("\n"))); err != nil {
			return err
		}
	}
}

func loopsText(all []tick.Status) string {
	if len(all) == 0 {
		return "No loops are defined; docs/loops.md shows one.\n"
	}
	var out strings.Builder
	for _, s := range all {
		out.WriteString(loopText(s))
	}
	return out.String()
}

func loopText(s tick.Status) string {
	p := &page{}
	fmt.Fprintln(p, told(strings.Join(append([]string{s.Loop + "  " + s.Status}, s.Flags...), "  ")))
	p.line("why", told(s.Why))
	p.line("next", told(s.Next))
	if c := s.Claim; c != nil {
		p.line("run", told(fmt.Sprintf("%d, %s since %s, process %d on %s", c.Token, c.Phase, c.Since, c.PID, c.Host)))
		p.line("progress", told(c.Progress))
	}
	if q := s.Approval; q != nil {
		p.line("request", told(fmt.Sprintf("%s to %s, %s, until %s", q.ID, q.Subject.Stage, q.State, q.Expires)))
	}
	if s.Token > 0 {
		p.line("runs", fmt.Sprintf("%d; in a row: %d failures, %d without change, %d skips", s.Count.Runs, s.Count.Failures, s.Count.NoProgress, s.Count.Skips))
	}
	if total := s.Count.Total; total.Cost > 0 || total.Tokens > 0 || total.Unknown > 0 {
		p.line("used", fmt.Sprintf("cost %s, %d tokens; %d runs did not tell", total.Cost, total.Tokens, total.Unknown))
	}
	p.line("last run", s.LastRun)
	p.line("last skip", s.LastSkip)
	p.line("last success", s.Success)
	for _, w := range s.Warnings {
		p.line("warning", told(w.Code+": "+w.Message))
	}
	return printable(p.String())
}

// loopLog is what `loop log` prints with --json.
type loopLog struct {
	Schema  int             `json:"schema"`
	Loop    string          `json:"loop"`
	Entries []loopLogRecord `json:"entries"`
}

type loopLogRecord struct {
	Revision uint64            `json:"revision"`
	At       string            `json:"at"`
	Actor    string            `json:"actor"`
	Kind     string            `json:"kind"`
	Events   []json.RawMessage `json:"events"`
	Newer    string            `json:"newer"`
}

func newLoopLog(a *app) *cobra.Command {
	var token, from uint64
	var follow bool
	cmd := &cobra.Command{
		Use:   "log NAME",
		Short: "Print a loop's history, or what a run wrote",
		Long: `Prints the records of the loop, oldest first. --run TOKEN prints what the programs of
one run wrote, while it is kept. --follow goes on with what comes, until interrupted.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case follow && a.json:
				return usage("leave one of them out", "--follow is for people, --json prints one document")
			case token > 0 && a.json:
				return usage("leave --json out; the logs are text", "--run and --json do not go together")
			}
			return a.onLoop(args, func(l *tick.Loops, name string) error {
				if token > 0 {
					return a.printRun(cmd.Context(), l, name, token, follow)
				}
				return a.printHistory(cmd.Context(), l, name, from, follow)
			})
		},
	}
	cmd.Flags().Uint64Var(&token, "run", 0, "what the programs of the run with this `TOKEN` wrote")
	cmd.Flags().Uint64Var(&from, "from", 1, "begin with `REVISION`")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what comes, until interrupted")
	return cmd
}

func (a *app) printHistory(ctx context.Context, l *tick.Loops, name string, from uint64, follow bool) error {
	for {
		doc := loopLog{Schema: runner.Schema, Loop: name, Entries: []loopLogRecord{}}
		err := l.Log(ctx, name, from, func(rec commit.Record[loop.Event]) error {
			row := loopLogRecord{Revision: rec.Revision, At: rec.At.UTC().Format(time.RFC3339Nano), Actor: rec.Actor, Kind: rec.Kind, Events: []json.RawMessage{}, Newer: rec.Newer}
			for _, e := range rec.Events {
				row.Events = append(row.Events, e.Raw)
			}
			doc.Entries = append(doc.Entries, row)
			from = rec.Revision + 1
			return nil
		})
		if err != nil {
			return a.reported(name, tick.Report{}, err)
		}
		if err := a.print(doc, func() string { return historyText(doc.Entries) }); err != nil || !follow {
			return err
		}
		if err := pauseOrEnd(ctx); err != nil {
			return err
		}
	}
}

func pauseOrEnd(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(500 * time.Millisecond):
		return nil
	}
}

func historyText(records []loopLogRecord) string {
	var out strings.Builder
	for _, r := range records {
		fmt.Fprintf(&out, "%6d  %s  %s  %s\n", r.Revision, r.At, r.Kind, r.Actor)
		for _, event := range r.Events {
			fmt.Fprintf(&out, "        %s\n", event)
		}
		if r.Newer != "" {
			fmt.Fprintf(&out, "        not understood by this version: %s\n", r.Newer)
		}
	}
	return printable(out.String())
}

// printRun prints the logs of one run, in the order in which they are written.
func (a *app) printRun(ctx context.Context, l *tick.Loops, name string, token uint64, follow bool) error {
	dir, ok := l.RunDir(name, token)
	if !ok {
		return &runner.Error{Code: runner.CodeNotFound, Message: fmt.Sprintf("loop %s keeps nothing of a run %d", name, token), NextStep: "`spec-kitty loop log " + name + "` shows the tokens"}
	}
	seen := map[string]int{}
	for {
		for _, part := range tick.Parts() {
			raw, err := os.ReadFile(filepath.Join(dir, part+".log"))
			if err != nil || len(raw) == seen[part] {
				continue
			}
			text := string(raw[min(seen[part], len(raw)):])
			if seen[part] == 0 {
				text = "== " + part + "\n" + text
			}
			seen[part] = len(raw)
			if err := noError(a.write([]byte(printable(text)))); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		if err := pauseOrEnd(ctx); err != nil {
			return err
		}
	}
}
