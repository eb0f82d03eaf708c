package main

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/cursor"
	"github.com/spec-kitty/step-runner/host/lanes"
	"github.com/spec-kitty/step-runner/host/runner"
)

// page is text for people in the making.
type page struct {
	strings.Builder
	style
}

// line adds a name and what it stands for; nothing where there is nothing.
func (p *page) line(name, value string) {
	if value != "" {
		fmt.Fprintf(p, "  %-10s %s\n", name, value)
	}
}

func (p *page) lines(name string, values []string) {
	for _, value := range values {
		p.line(name, value)
		name = ""
	}
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// answerText is an answer for people: what to do now, and the command for it.
func (a *app) answerText(answer runner.Answer) string {
	p := &page{style: a.style()}
	p.headline(answer)
	p.work(answer)
	p.block(answer)
	p.questions(answer)
	p.rest(answer)
	return p.String()
}

func (p *page) headline(a runner.Answer) {
	where := fmt.Sprintf("mission %s (%s)", told(a.MissionSlug), told(a.MissionType))
	if a.Planned {
		fmt.Fprintf(p, "Planned, not committed. ")
	}
	if a.Replayed {
		fmt.Fprintf(p, "Already recorded before. ")
	}
	if a.Answered != nil {
		fmt.Fprintf(p, "Answered %s with %q. ", told(*a.Answered), said(a.Answer))
	}
	switch a.Kind {
	case runner.KindStep:
		fmt.Fprintf(p, "%s: %s, %s\n", p.bold("Do"), workName(a), where)
	case runner.KindDecision:
		fmt.Fprintf(p, "%s before step %s of %s\n", p.bold("Answer first"), told(said(a.StepID)), where)
	case runner.KindBlocked:
		fmt.Fprintf(p, "%s: %s\n", p.red("Blocked"), told(said(a.Reason)))
	case runner.KindTerminal:
		fmt.Fprintf(p, "%s: %s\n", p.bold("Over"), where+" is "+a.MissionState)
	default:
		fmt.Fprintf(p, "%s: %s\n", p.bold(standing(a)), where)
	}
}

// standing is where a mission stands, for a query.
func standing(a runner.Answer) string {
	switch {
	case a.RunID == nil:
		return "Not started"
	case a.MissionState == "done" || a.MissionState == "canceled" || a.MissionState == "aborted":
		return "Over, " + a.MissionState
	}
	return "At step " + told(a.MissionState)
}

// workName is the step, with the package that is worked on.
func workName(a runner.Answer) string {
	name := said(a.StepID)
	if a.WPID != nil {
		name += " of " + *a.WPID
	}
	if a.Attempt != nil && *a.Attempt > 1 {
		name += fmt.Sprintf(" (attempt %d)", *a.Attempt)
	}
	return told(name)
}

func (p *page) work(a runner.Answer) {
	if a.Kind != runner.KindStep && a.StepID != nil && a.Kind != runner.KindDecision {
		if a.Attempt != nil { // also what is another's, whose token is not shown
			p.line("handed out", workName(a))
		} else {
			p.line("next", workName(a))
		}
	}
	if a.Kind == runner.KindQuery && a.StepID == nil && a.PreviewStep != nil {
		p.line("next", told(*a.PreviewStep))
	}
	if h := a.Holder; h != nil {
		p.line("holder", told(holderText(*h)))
	}
	p.line("prompt", told(said(a.PromptFile)))
	p.line("workspace", told(said(a.WorkspacePath)))
	p.line("report", told(said(a.Report)))
}

func holderText(h runner.HolderSince) string {
	name := h.Agent
	if h.Worker != "" {
		name += "/" + h.Worker
	}
	return name + ", since " + h.Since
}

func (p *page) block(a runner.Answer) {
	if a.Kind == runner.KindQuery && a.Reason != nil {
		p.line(p.red("blocked"), told(*a.Reason))
	}
	for _, failure := range a.GuardFailures {
		p.line("guard", told(failure))
	}
	if len(a.NotEvaluated) > 0 {
		p.line("not run", told(strings.Join(a.NotEvaluated, ", ")))
	}
	if len(a.OpenDecisions) == 0 && !onlyReport(a) {
		p.lines("way on", clean(a.Recover))
	}
}

// onlyReport tells whether the way on is the report that is shown already.
func onlyReport(a runner.Answer) bool {
	return len(a.Recover) == 1 && a.Report != nil && a.Recover[0] == *a.Report
}

func (p *page) questions(a runner.Answer) {
	for _, q := range a.OpenDecisions {
		fmt.Fprintf(p, "  %s  %s\n", p.bold(told(q.ID)), told(q.Question))
		if len(q.Options) > 0 {
			p.line("", "one of: "+told(strings.Join(q.Options, ", ")))
		}
		if cursor.IsAudit(q.ID) {
			p.line("", "its token: "+q.Token)
		}
		if q.Postponed != nil {
			p.line("", putOffText(*q.Postponed))
		}
	}
	if len(a.OpenDecisions) > 0 {
		p.lines("answer", clean(a.Recover))
	}
}

func putOffText(put runner.Postponed) string {
	return told("postponed by " + put.By + ": " + put.Reason)
}

func (p *page) rest(a runner.Answer) {
	p.progress(a.Progress)
	p.warnings(a.Warnings)
}

func (p *page) progress(g *lanes.Progress) {
	if g != nil {
		p.line("packages", fmt.Sprintf("%d: %d done, %d approved, %d for review, %d in progress, %d planned (%.0f %%)",
			g.Total, g.Done, g.Approved, g.ForReview, g.InProgress, g.Planned, g.Weighted))
	}
}

func (p *page) warnings(all []runner.Warning) {
	for _, w := range all {
		p.line("warning", told(w.Code+": "+w.Message))
	}
}

func clean(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = told(line)
	}
	return out
}
