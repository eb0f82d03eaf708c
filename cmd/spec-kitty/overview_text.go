package main

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/runner"
)

// overviewText is one mission for people: what is handed out to whom, what is
// asked, what stands still and why, where the packages lie.
func overviewText(o runner.Overview) string {
	p := &page{}
	p.overview(o)
	return p.String()
}

func (p *page) overview(o runner.Overview) {
	state := "at step " + o.MissionState
	switch {
	case o.RunID == nil:
		state = "not started"
	case o.MissionState == "done" || o.MissionState == "canceled" || o.MissionState == "aborted":
		state = o.MissionState
	}
	fmt.Fprintf(p, "%s (%s): %s\n", p.bold(told(o.MissionSlug)), told(o.MissionType), told(state))
	if o.RunID != nil {
		p.line("run", fmt.Sprintf("%s, revision %d", *o.RunID, o.Revision))
	}
	p.steps(o.Steps)
	for _, i := range o.Issues {
		name := strings.TrimSuffix(i.StepID+" "+i.WPID, " ")
		p.line("handed out", told(fmt.Sprintf("%s to %s, attempt %d", name, holderText(i.Holder), i.Attempt)))
	}
	for _, q := range o.OpenDecisions {
		p.line("asked", told(q.ID+": "+q.Question))
		if cursor.IsAudit(q.ID) {
			p.line("", "its token: "+q.Token)
		}
		if q.Postponed != nil {
			p.line("", putOffText(*q.Postponed))
		}
	}
	if o.Block != nil {
		p.line("blocked", told(o.Block.Reason))
		p.lines("way on", clean(o.Block.Recover))
	}
	p.packages(o.Packages)
	p.warnings(o.Warnings)
}

// steps counts them, so that a mission of thousands stays one line.
func (p *page) steps(steps []runner.StepRow) {
	done := 0
	for _, s := range steps {
		if s.State == "done" {
			done++
		}
	}
	if len(steps) > 0 {
		p.line("steps", fmt.Sprintf("%d of %d done", done, len(steps)))
	}
}

func (p *page) packages(packages []runner.PackageRow) {
	for _, k := range packages {
		row := fmt.Sprintf("%-8s %-12s %s", k.ID, k.Lane, k.Title)
		if k.Holder != "" {
			row += "; with " + k.Holder
		}
		if k.Stopped != "" {
			row += "; stopped: " + k.Stopped
		}
		p.line("", told(row))
	}
}
