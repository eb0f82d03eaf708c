package loop

import (
	"slices"
	"strings"

	"github.com/spec-kitty/step-runner/host/schedule"
)

// Problem is something that is wrong with a definition's values.
type Problem struct {
	Path    string // the key, as limits.max_runs
	Message string
}

// Check says what is wrong with the definition as a whole, all of it. Bounds of
// single values are held where they are read.
func (d *Definition) Check() []Problem {
	var all []Problem
	add := func(path, message string) { all = append(all, Problem{path, message}) }
	if !d.bounded() {
		add("limits", "nothing ends this loop: it needs max_runs, a [goal] or a limit on cost, tokens or time")
	}
	if d.Work.Timeout > 0 && d.Work.IdleTimeout >= d.Work.Timeout {
		add("work.idle_timeout", "has no effect: timeout comes first")
	}
	if why := badBranch(d.Worktree.Branch); why != "" {
		add("worktree.branch", why)
	} else if d.Worktree.Branch == d.Worktree.Base {
		add("worktree.branch", "is base itself: a loop lands on a branch of its own, which people or a command of yours merge")
	}
	if why := badBranch(d.Worktree.Base); why != "" {
		add("worktree.base", why)
	}
	if !d.Schedule.Rule.IsZero() {
		all = append(all, d.Schedule.check()...)
	}
	for i, stage := range d.Approval.Before {
		if slices.Contains(d.Approval.Before[:i], stage) {
			add("approval.before", "names "+string(stage)+" twice")
		}
	}
	return all
}

// bounded tells whether something ends the loop, or what it spends.
func (d *Definition) bounded() bool {
	l := d.Limits
	return d.Goal != nil || l.MaxRuns > 0 || l.MaxCostPerRun > 0 || l.MaxCostPerDay > 0 ||
		l.MaxTokensPerRun > 0 || l.MaxTokensPerDay > 0 || l.MaxTimePerDay > 0
}

func (s Schedule) check() []Problem {
	if _, err := schedule.Parse(s.Rule); err != nil {
		key := "schedule.every"
		if s.Rule.Cron != "" {
			key = "schedule.cron"
		}
		return []Problem{{key, err.Error()}}
	}
	if every := s.Rule.Every; every > 0 && s.Jitter >= every {
		return []Problem{{"schedule.jitter", "is as long as every: a firing would come after the next one's time"}}
	}
	if every := s.Rule.Every; every > 0 && s.MinGap > every {
		return []Problem{{"schedule.min_gap", "is longer than every: it would skip firings always"}}
	}
	return nil
}

// badBranch says why git would not take a name as a branch's; "" if it would.
func badBranch(name string) string {
	switch {
	case name == "":
		return "is empty: the name of a branch was expected"
	case strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return "holds a character that git allows in no branch's name (space ~ ^ : ? * [ \\)"
	case strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") || name == "@":
		return "holds what git allows in no branch's name (.. // @{)"
	case strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, "."):
		return "begins or ends as no branch's name may (- / .)"
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return "has a part that begins with . or ends with .lock, which git allows in no branch's name"
		}
	}
	return ""
}
