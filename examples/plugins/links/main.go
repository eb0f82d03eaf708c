// Command links is a guard: the relative links in a mission's Markdown lead to
// files that are there. What lies outside the mission's folder is not looked at.
package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/spec-kitty/step-runner/plugins/sdk/go/guest"
)

const mostReasons = 40

func main() {
	guest.Plugin{
		Name:        "links",
		Version:     "1.0.0",
		Description: "Wants relative links in Markdown to lead to files",
		With:        `{"type":"object","additionalProperties":false,"properties":{"ignore":{"type":"array","items":{"type":"string"}}}}`,
		Guard:       guard,
	}.Main()
}

func guard(r guest.Request) (guest.GuardAnswer, error) {
	if err := r.Step.With.Only("ignore"); err != nil {
		return guest.CannotJudge(err.Error()), nil
	}
	ignore, err := r.Step.With.TextsOr("ignore", nil)
	if err != nil {
		return guest.CannotJudge(err.Error()), nil
	}
	files, err := guest.Files(r.MissionDir)
	if err != nil {
		return guest.CannotJudge("the mission's folder cannot be looked at; grant it: read = [\"{mission}\"]: " + err.Error()), nil
	}
	var reasons []guest.Reason
	for _, file := range files {
		if path.Ext(file) != ".md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return guest.CannotJudge(file + " cannot be read: " + err.Error()), nil
		}
		reasons = append(reasons, broken(r.MissionDir, file, string(text), ignore)...)
	}
	if len(reasons) == 0 {
		return guest.Allow(), nil
	}
	return guest.Refuse(shortened(reasons)...), nil
}

// broken are the links of a file that lead nowhere.
func broken(dir, file, text string, ignore []string) []guest.Reason {
	var reasons []guest.Reason
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			continue
		}
		for _, target := range targets(line) {
			at := path.Join(path.Dir(file), target)
			if hasPrefixOf(target, ignore) || !strings.HasPrefix(at, dir+"/") {
				continue
			}
			if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
				reasons = append(reasons, guest.Reason{
					Message: "line " + strconv.Itoa(i+1) + ": the link leads to " + strconv.Quote(target) + ", which is not there",
					Path:    file, Fix: "correct the link, or write the file",
				})
			}
		}
	}
	return reasons
}

// targets are the relative paths that a line links to, without what follows # or ?.
// Text in backquotes is code.
func targets(line string) []string {
	var all []string
	for i, part := range strings.Split(line, "`") {
		for i%2 == 0 {
			_, after, found := strings.Cut(part, "](")
			if !found {
				break
			}
			target, rest, closed := strings.Cut(after, ")")
			if !closed {
				break
			}
			part = rest
			target, _, _ = strings.Cut(strings.TrimSpace(target), " ") // a title may follow
			target = strings.Trim(target, "<>")
			if end := strings.IndexAny(target, "#?"); end >= 0 {
				target = target[:end]
			}
			if target != "" && !strings.Contains(target, ":") && target[0] != '/' {
				all = append(all, strings.ReplaceAll(target, "%20", " "))
			}
		}
	}
	return all
}

func hasPrefixOf(target string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(target, prefix) {
			return true
		}
	}
	return false
}

// shortened says how much more there is where a list is cut.
func shortened(reasons []guest.Reason) []guest.Reason {
	if len(reasons) <= mostReasons {
		return reasons
	}
	more := guest.Reason{Message: "and " + strconv.Itoa(len(reasons)-mostReasons+1) + " more"}
	return append(reasons[:mostReasons-1:mostReasons-1], more)
}
