package config

import (
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
)

func loopWorktree(t *table, name string) loop.Worktree {
	w := loop.Worktree{Base: "main", Branch: "loop/" + name, KeepRuns: loop.DefaultKeepRuns}
	if t == nil {
		return w
	}
	if base, ok := typed[string](t, "base", "text in quotes"); ok {
		w.Base = base
	}
	if branch, ok := typed[string](t, "branch", "text in quotes"); ok {
		w.Branch = branch
	}
	w.Setup = t.program("setup")
	w.KeepRuns = int(t.numberIn("keep_runs", 1, maxCounts, loop.DefaultKeepRuns))
	t.done()
	return w
}

// scheduleRule reads when ticks are due. Whether every and cron are good is
// judged with the values.
func scheduleRule(t *table) loop.Schedule {
	s := loop.Schedule{CatchUp: true, Window: loop.DefaultWindow}
	if t == nil {
		return s
	}
	s.Rule = schedule.Rule{Every: t.duration("every", schedule.MinEvery, schedule.MaxEvery, 0), Cron: t.text("cron")}
	if !t.has("every") && !t.has("cron") {
		t.read.add(t.path(), "", `needs every = "30m" or cron = "0 2 * * 1-5"`)
	}
	if t.has("cron") && s.Rule.Cron == "" {
		t.empty("cron")
	}
	s.Jitter = t.duration("jitter", time.Second, 24*time.Hour, 0)
	s.MinGap = t.duration("min_gap", time.Second, maxLoopSpan, 0)
	s.CatchUp = t.oneOf("catchup", "once", "skip") == "once"
	s.Window = t.duration("catchup_window", time.Minute, maxLoopSpan, loop.DefaultWindow)
	if t.has("catchup_window") && !s.CatchUp {
		t.wrong("catchup_window", `has no effect with catchup = "skip"`)
	}
	t.done()
	return s
}

func notify(t *table) loop.Notify {
	if t == nil {
		return loop.Notify{}
	}
	n := loop.Notify{Run: t.program("run"), OverdueAfter: t.duration("overdue_after", time.Minute, maxLoopSpan, 0)}
	all := []string{string(loop.OnHalted), string(loop.OnWaiting), string(loop.OnLost), string(loop.OnDone), string(loop.OnOverdue), string(loop.OnInvalid)}
	t.eachWord("on", all, func(word string) { n.On = append(n.On, loop.Occasion(word)) })
	if t.has("on") && !t.has("run") {
		t.wrong("on", "has no effect without run, the program that is told")
	}
	if !t.has("on") && n.Run != nil {
		for _, word := range all {
			n.On = append(n.On, loop.Occasion(word))
		}
	}
	t.done()
	return n
}
