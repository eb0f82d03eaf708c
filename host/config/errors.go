package config

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a configuration or a definition.
type Problem struct {
	File    string // relative to the project root, with slashes
	Line    int    // from 1; 0 where it is not known
	Path    string // the key, as steps[3].guards[0].plugin; empty for the whole file
	Message string
	Near    string // the known name that is nearest to the unknown one, if any is near
}

func (p Problem) String() string {
	var out strings.Builder
	out.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&out, ":%d", p.Line)
	}
	out.WriteString(": ")
	if p.Path != "" {
		out.WriteString(p.Path + ": ")
	}
	out.WriteString(p.Message)
	if p.Near != "" {
		fmt.Fprintf(&out, "; did you mean %s?", p.Near)
	}
	return out.String()
}

// InvalidError lists everything that is wrong, ordered by file and line.
type InvalidError struct{ Problems []Problem }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// NotFoundError says that something named does not exist: the project's file,
// a mission type or a file that the configuration names.
type NotFoundError struct {
	What  string // "project", "mission type", …
	Name  string // what was looked for
	Near  string // the known name that is nearest, if any is near
	Known []string
	Fix   string // what to do about it
}

func (e *NotFoundError) Error() string {
	text := "there is no " + e.What
	if e.Name != "" {
		text = fmt.Sprintf("%s %q not found", e.What, e.Name)
	}
	switch {
	case e.Near != "":
		text += fmt.Sprintf("; did you mean %s?", e.Near)
	case len(e.Known) > 0:
		text += "; there are: " + strings.Join(e.Known, ", ")
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// AmbiguousError says that a name, or none, fits several things.
type AmbiguousError struct {
	What       string
	Name       string
	Candidates []string // sorted
}

func (e *AmbiguousError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("which %s is meant? There are %s", e.What, strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("%s %q is ambiguous: %s", e.What, e.Name, strings.Join(e.Candidates, ", "))
}
