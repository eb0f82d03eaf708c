package main

import (
	"fmt"
	"strings"

	"github.com/spec-kitty/step-runner/host/runner"
	"github.com/spec-kitty/step-runner/host/simulate"
)

func walkText(s runner.Simulation) string {
	var out strings.Builder
	for _, m := range s.Moves {
		fmt.Fprintf(&out, "%4d  %s\n", m.Number, oneLine(moveText(m)))
		for _, e := range m.Effects {
			fmt.Fprintf(&out, "        %s\n", oneLine(effectText(e)))
		}
	}
	fmt.Fprintf(&out, "\n%s\n", oneLine(endText(s)))
	for _, part := range []struct {
		heading string
		lines   []string
	}{{"Taken to be so:", s.Assumed}, {"Not used of the script:", s.Unused}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s\n", part.heading)
		for _, line := range part.lines {
			fmt.Fprintf(&out, "  %s\n", oneLine(line))
		}
	}
	return printable(out.String())
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

func moveText(m simulate.Move) string {
	switch m.Kind {
	case "start":
		return m.By + " starts the run"
	case "ask":
		return m.By + " asks for work"
	case "close":
		return m.By + " closes " + m.StepID + ", which has nothing left to offer"
	case "answer":
		text := m.By + " answers " + m.DecisionID + ": " + m.Answer
		if m.Assumed {
			text += " (assumed)"
		}
		return text
	}
	text := m.By + " reports " + work(m.StepID, m.WPID) + ", attempt " + fmt.Sprint(m.Attempt) + ": " + m.Result
	if m.Kind == "auto" {
		text += " (its executor does it alone)"
	}
	return text
}

func work(step, pack string) string {
	switch {
	case pack == "":
		return step
	case step == "":
		return pack
	}
	return step + " " + pack
}

func effectText(e simulate.Effect) string {
	switch e.Kind {
	case "handed_out":
		return work(e.StepID, e.WPID) + " is handed out " + e.Text
	case "asked":
		text := e.DecisionID + " is asked: " + e.Text
		if len(e.Options) > 0 {
			text += " [" + strings.Join(e.Options, " | ") + "]"
		}
		return text
	case "completed":
		return e.StepID + " is complete"
	case "moved":
		return e.WPID + " moves from " + e.Text
	case "stopped":
		return work(e.StepID, e.WPID) + " goes no further, " + e.Text
	case "reopened":
		return "open again: " + e.Text
	}
	return "the mission is over: " + e.Text
}

func endText(s runner.Simulation) string {
	switch {
	case s.Finished():
		return fmt.Sprintf("It ends %s after %d moves: %s.", s.End.State, len(s.Moves), s.End.Reason)
	case s.End.State == simulate.Endless:
		return fmt.Sprintf("It never ends: %s.", s.End.Reason)
	}
	return fmt.Sprintf("It ends blocked at %s after %d moves, %s: %s", s.End.StepID, len(s.Moves), s.End.Code, s.End.Reason)
}
