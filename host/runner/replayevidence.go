package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/cursor"
)

// evidenceOf are the lines that say what a report was accepted on: what its
// guards saw, what was called and how that ended, what its executor left.
func evidenceOf(r cursor.Reported) []string {
	var all []string
	for _, g := range r.Guards {
		line := "guard " + g.Guard + ": " + g.Verdict
		if g.Examined != "" {
			line += ", having seen " + g.Examined
		}
		all = append(all, line)
	}
	for _, c := range r.Calls {
		all = append(all, callLine(c))
	}
	for _, a := range r.Artifacts {
		what := "a new file"
		if a.Replaces != cursor.Absent {
			what = "in place of " + shortSum(a.Replaces)
		}
		all = append(all, fmt.Sprintf("artifact %s: %d bytes, %s, %s", a.Path, len(a.Content), shortSum(a.SHA256), what))
	}
	for _, note := range r.Notes {
		all = append(all, "note: "+note)
	}
	if r.Prompt != "" {
		all = append(all, fmt.Sprintf("the executor leaves %d bytes for the next prompt", len(r.Prompt)))
	}
	return all
}

func callLine(c cursor.Call) string {
	line := callName(c)
	if c.Command != nil {
		return line + ": " + commandEnd(*c.Command)
	}
	line += fmt.Sprintf(" (%s): request %s, answer %s", shortSum(c.SHA256), shortSum(c.Request), shortSum(c.Answer))
	if c.Files != "" {
		line += ", files seen " + shortSum(c.Files)
	}
	return line
}

// callName is how a call is named to people.
func callName(c cursor.Call) string {
	name := string(c.Kind) + " " + c.Name
	if c.Verb != "" {
		name += " " + c.Verb
	}
	if c.Round > 1 {
		name += fmt.Sprintf(", round %d", c.Round)
	}
	return name
}

func commandEnd(c cursor.CommandRun) string {
	text := c.End
	switch {
	case c.Signal != "":
		text += " by signal " + c.Signal
	case c.Exit >= 0:
		text += fmt.Sprintf(" with %d", c.Exit)
	}
	text += fmt.Sprintf(" after %s", time.Duration(c.Millis)*time.Millisecond)
	for _, stream := range []struct {
		name string
		out  cursor.Output
	}{{"stdout", c.Stdout}, {"stderr", c.Stderr}} {
		if stream.out.Bytes > 0 {
			text += fmt.Sprintf(", %s of %d bytes ending in %q", stream.name, stream.out.Bytes, lastLine(stream.out.Tail))
		}
	}
	return text
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
