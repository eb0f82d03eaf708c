package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spec-kitty/step-runner/host/runner"
)

// watchPause is the time between two looks of --watch.
const watchPause = 2 * time.Second

// statusPage is what `status` prints with --json.
type statusPage struct {
	Schema   int               `json:"schema"`
	Missions []runner.Overview `json:"missions"`
	Damaged  []runner.RunRow   `json:"damaged"`
}

type statusOptions struct {
	mission string
	watch   bool
}

func newStatus(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [MISSION]",
		Short: "The page for the morning: who works on what, what is asked, what stands still",
		Long: `Shows every mission that has a run, or the named one: what is handed out to whom
and since when, open questions, blocks with their way out, packages with lane and
holder. It ends with exit code 0 however the missions stand, also where one is
damaged.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, first(args)) },
	}
	missionFlag(cmd, &o.mission)
	cmd.Flags().BoolVar(&o.watch, "watch", false, "draw the page again and again, on a terminal, until interrupted")
	return cmd
}

func (o *statusOptions) run(a *app, cmd *cobra.Command, argument string) error {
	if o.watch && a.json {
		return usage("call status --json again instead", "--watch draws for people, --json prints one document")
	}
	handle := argument
	if cmd.Flags().Changed("mission") || argument == "" && a.getenv("SPEC_KITTY_MISSION") != "" {
		var err error
		if handle, err = a.mission(cmd, argument, o.mission); err != nil {
			return err
		}
	}
	if !o.watch || !isTerminal(a.out) {
		found, err := a.look(cmd.Context(), handle)
		if err != nil {
			return err
		}
		return a.print(found, func() string { return a.statusText(found) })
	}
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	return a.watch(cmd.Context(), handle, tick.C)
}

// look reads the page anew, the configuration too.
func (a *app) look(ctx context.Context, handle string) (statusPage, error) {
	page := statusPage{Schema: runner.Schema, Missions: []runner.Overview{}, Damaged: []runner.RunRow{}}
	project, err := a.open()
	if err != nil {
		return page, err
	}
	defer project.Close()
	missions, damaged, err := project.Status(ctx, handle)
	var e *runner.Error
	if handle != "" && errors.As(err, &e) && standsBadly(e.Code) {
		missions, err = nil, nil
		damaged = a.damagedRow(ctx, project, handle, e)
	}
	if err != nil {
		return page, err
	}
	page.Missions = append(page.Missions, missions...)
	page.Damaged = append(page.Damaged, damaged...)
	return page, nil
}

// standsBadly tells an error that is about how a mission stands (its run, its lane
// log, its files) from one about which mission is meant.
func standsBadly(code runner.Code) bool {
	switch exitOf(code) {
	case exitDamaged, exitDefinition, exitRefused:
		return true
	}
	return false
}

// damagedRow is the row of a named mission that cannot be read.
func (a *app) damagedRow(ctx context.Context, project *runner.Project, handle string, why *runner.Error) []runner.RunRow {
	rows, _ := project.List(ctx) // where that fails too, the row tells what is known
	for _, row := range rows {
		if row.MissionSlug == handle && row.Damaged {
			return []runner.RunRow{row}
		}
	}
	return []runner.RunRow{{MissionSlug: handle, MissionState: "damaged", Damaged: true, Error: why.Message, NextStep: why.Next()}}
}

func (a *app) statusText(found statusPage) string {
	p := &page{style: a.style()}
	for _, o := range found.Missions {
		p.overview(o)
	}
	for _, row := range found.Damaged {
		fmt.Fprintf(p, "%s: %s\n", printable(cmp.Or(row.MissionSlug, "run "+row.RunID)), p.red("damaged"))
		p.line("why", printable(row.Error))
		p.line("way on", printable(row.NextStep))
	}
	if p.Len() == 0 {
		p.WriteString("No mission has a run yet; `spec-kitty run start SLUG` starts one.\n")
	}
	return p.String()
}

// watch draws the page again and again.
func (a *app) watch(ctx context.Context, handle string, tick <-chan time.Time) error {
	return a.redraw(ctx, tick, func(ctx context.Context) (string, error) {
		found, err := a.look(ctx, handle)
		return a.statusText(found), err
	})
}

// redraw draws a page, and again at every tick, until it is interrupted, which is how
// it ends well.
func (a *app) redraw(ctx context.Context, tick <-chan time.Time, page func(context.Context) (string, error)) error {
	for {
		text, err := page(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.write([]byte("\x1b[H\x1b[2J" + text)); err != nil {
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}
