package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/commit"
	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/tick"
)

// followPause is the time between two looks of --follow.
const followPause = 500 * time.Millisecond

// loopLog is what `loop log` prints with --json.
type loopLog struct {
	Schema  int                `json:"schema"`
	Loop    string             `json:"loop"`
	Entries []runner.LogRecord `json:"entries"`
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
			var looks <-chan time.Time
			if follow {
				timer := time.NewTicker(followPause)
				defer timer.Stop()
				looks = timer.C
			}
			return a.onLoop(args, func(l *tick.Loops, name string) error {
				if token > 0 {
					return a.printRun(cmd.Context(), l, name, token, looks)
				}
				return a.printHistory(cmd.Context(), l, name, from, looks)
			})
		},
	}
	cmd.Flags().Uint64Var(&token, "run", 0, "what the programs of the run with this `TOKEN` wrote")
	cmd.Flags().Uint64Var(&from, "from", 1, "begin with `REVISION`")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what comes, until interrupted")
	return cmd
}

func (a *app) printHistory(ctx context.Context, l *tick.Loops, name string, from uint64, follow <-chan time.Time) error {
	err := goingOn(ctx, follow, func() error {
		doc := loopLog{Schema: runner.Schema, Loop: name, Entries: []runner.LogRecord{}}
		err := l.Log(ctx, name, from, func(rec commit.Record[loop.Event]) error {
			doc.Entries = append(doc.Entries, logRecord(rec))
			from = rec.Revision + 1
			return nil
		})
		if err != nil {
			return err
		}
		return a.print(doc, func() string { return logText(doc.Entries) })
	})
	if err != nil {
		return a.reported(name, tick.Report{}, err)
	}
	return nil
}

func logRecord(rec commit.Record[loop.Event]) runner.LogRecord {
	row := runner.LogRecord{Revision: rec.Revision, At: rec.At.UTC().Format(time.RFC3339Nano), Actor: rec.Actor, Kind: rec.Kind, Events: []json.RawMessage{}, Newer: rec.Newer}
	for _, e := range rec.Events {
		row.Events = append(row.Events, e.Raw)
	}
	return row
}

// goingOn looks once; to follow, at every tick too, until it is interrupted, which is
// how it ends well.
func goingOn(ctx context.Context, follow <-chan time.Time, look func() error) error {
	for {
		err := look()
		if follow == nil || err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-follow:
		case <-ctx.Done():
			return nil
		}
	}
}

// printRun prints the logs of one run, in the order in which they are written.
func (a *app) printRun(ctx context.Context, l *tick.Loops, name string, token uint64, follow <-chan time.Time) error {
	if _, ok := l.RunDir(name, token); !ok {
		return &runner.Error{Code: runner.CodeNotFound, Message: fmt.Sprintf("loop %s keeps nothing of a run %d", name, token), NextStep: "`spec-kitty loop log " + name + "` shows the tokens"}
	}
	seen := map[string]int64{}
	return goingOn(ctx, follow, func() error {
		for _, part := range tick.Parts() {
			text := l.PartLog(name, token, part, seen[part])
			if follow != nil {
				text = whole(text)
			}
			if len(text) == 0 {
				continue
			}
			begin := ""
			if seen[part] == 0 {
				begin = "== " + part + "\n"
			}
			seen[part] += int64(len(text))
			if err := noError(a.write([]byte(begin + printable(string(text))))); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole leaves out a character of which only the beginning has been written yet.
func whole(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			return text[:len(text)-i]
		}
	}
	return text
}
