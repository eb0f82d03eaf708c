package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/mission"
)

// Bounds of a loop's definition.
const (
	maxLoopTime = 7 * 24 * time.Hour // of a process
	maxLoopSpan = 8784 * time.Hour   // of waiting
	maxCounts   = 1_000_000
	maxTokens   = 1_000_000_000_000
)

// loopDraft is a loop's definition as far as its TOML says: the prompt is not
// read yet.
type loopDraft struct {
	def       loop.Definition
	promptKey string // where the prompt file is named; "" for none
}

// readLoop reads a loop's definition. In a file of its own the first key is
// schema; inline, the configuration's counts.
func readLoop(t *table, name string, inline bool) *loopDraft {
	d := &loopDraft{def: loop.Definition{Name: name, Description: t.text("description")}}
	t.loopSchema(inline)
	d.def.Gate = check(t.table("gate"), loop.DefaultGateTimeout)
	d.def.Goal = check(t.table("goal"), loop.DefaultCheckTimeout)
	d.work(t)
	d.def.Verify = verifier(t.table("verify"))
	d.def.Approval = approval(t.table("approval"))
	d.def.Limits = limits(t.table("limits"))
	d.def.Worktree = loopWorktree(t.table("worktree"), name)
	d.def.Schedule = scheduleRule(t.table("schedule"))
	d.def.Lease = loop.DefaultLease
	if lease := t.table("lease"); lease != nil {
		d.def.Lease = lease.duration("ttl", 10*time.Second, time.Hour, loop.DefaultLease)
		lease.done()
	}
	d.def.Notify = notify(t.table("notify"))
	t.done()
	return d
}

func (t *table) loopSchema(inline bool) {
	switch n, ok := t.number("schema"); {
	case !t.has("schema") && !inline:
		t.wrong("schema", "is missing: the file's first line is schema = 1")
	case ok && n > 1:
		t.wrong("schema", "%d is newer than this version, which reads 1", n)
	case ok && n < 1:
		t.wrong("schema", "must be 1, not %d", n)
	}
}

// check reads who answers: a program, a declared command or a plugin.
func check(t *table, timeout time.Duration) *loop.Check {
	if t == nil {
		return nil
	}
	c := t.checkKeys(timeout)
	t.done()
	return &c
}

func (t *table) checkKeys(timeout time.Duration) loop.Check {
	c := loop.Check{Run: t.program("run"), Command: t.text("command"), Plugin: t.text("plugin")}
	var kinds []string
	for _, kind := range []string{"run", "command", "plugin"} {
		if t.has(kind) {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0:
		t.read.add(t.path(), "", "needs one of run, command and plugin")
	case len(kinds) > 1:
		t.read.add(t.path(), "", "has %s: one of them is asked", strings.Join(kinds, " and "))
	case kinds[0] != "run" && t.has("timeout"):
		t.wrong("timeout", "has no effect here: the %s has its own", kinds[0])
	}
	if t.has("command") && c.Command == "" || t.has("plugin") && c.Plugin == "" {
		t.empty("command")
		t.empty("plugin")
	}
	if given := t.duration("timeout", time.Second, maxLoopTime, timeout); c.Run != nil {
		c.Timeout = given
	}
	return c
}

// empty reports a text that is there and empty.
func (t *table) empty(key string) {
	if text, ok := t.values[key].(string); ok && text == "" {
		t.wrong(key, "is empty: a name was expected")
	}
}

func (d *loopDraft) work(up *table) {
	t := up.table("work")
	if t == nil {
		if !up.has("work") {
			up.wrong("work", "is missing: run = [\"agent\", \"-p\"] and timeout = \"60m\"")
		}
		return
	}
	d.def.Work = loop.Work{
		Run:         t.program("run"),
		PromptFile:  t.text("prompt_file"),
		Timeout:     t.duration("timeout", time.Second, maxLoopTime, 0),
		IdleTimeout: t.duration("idle_timeout", time.Second, maxLoopTime, 0),
		KillGrace:   t.duration("kill_grace", time.Second, 10*time.Minute, loop.DefaultKillGrace),
		PassEnv:     t.passEnv("pass_env"),
	}
	if !t.has("run") {
		t.wrong("run", "is missing: the program and its arguments")
	}
	if !t.has("timeout") {
		t.wrong("timeout", "is missing: how long a run's work may take, such as \"60m\"")
	}
	if t.has("prompt_file") {
		d.promptKey = t.at("prompt_file")
	}
	t.done()
}

func verifier(t *table) *loop.Verifier {
	if t == nil {
		return nil
	}
	v := &loop.Verifier{Check: t.checkKeys(loop.DefaultCheckTimeout), Retry: t.oneOf("on_fail", "halt", "retry") == "retry"}
	t.eachText("protect", func(i int, pattern string) {
		if err := loop.CheckPattern(pattern); err != nil {
			t.read.add(t.item("protect", i), "", "%v", err)
		}
		v.Protect = append(v.Protect, pattern)
	})
	t.done()
	return v
}

func approval(t *table) loop.ApprovalRule {
	rule := loop.ApprovalRule{Expires: loop.DefaultExpires}
	if t == nil {
		return rule
	}
	t.eachWord("before", []string{string(loop.ToStart), string(loop.ToLand)}, func(word string) {
		rule.Before = append(rule.Before, loop.Stage(word))
	})
	rule.Expires = t.duration("expires", time.Minute, maxLoopSpan, loop.DefaultExpires)
	t.done()
	return rule
}

// limits reads what bounds a loop. Zero is no limit's value: it would be taken
// for "at once" by some and for "never" by others.
func limits(t *table) loop.Limits {
	l := loop.Limits{MaxFailures: loop.DefaultFailures, MaxNoProgress: loop.DefaultNoProgress}
	if t == nil {
		return l
	}
	l.MaxRuns = int(t.numberIn("max_runs", 1, maxCounts, 0))
	l.MaxFailures = int(t.numberIn("max_failures", 1, maxCounts, loop.DefaultFailures))
	l.MaxNoProgress = int(t.numberIn("max_no_progress", 1, maxCounts, loop.DefaultNoProgress))
	l.MaxCostPerRun = t.money("max_cost_per_run")
	l.MaxCostPerDay = t.money("max_cost_per_day")
	l.MaxTokensPerRun = t.numberIn("max_tokens_per_run", 1, maxTokens, 0)
	l.MaxTokensPerDay = t.numberIn("max_tokens_per_day", 1, maxTokens, 0)
	l.MaxTimePerDay = t.duration("max_time_per_day", time.Minute, 24*time.Hour, 0)
	l.ContextFloor = t.percent("context_floor")
	t.done()
	return l
}

// money reads an amount above zero, with a fraction or without.
func (t *table) money(key string) loop.Money {
	value, ok := t.get(key)
	if !ok {
		return 0
	}
	units, isFloat := value.(float64)
	if whole, isInt := value.(int64); isInt {
		units, isFloat = float64(whole), true
	}
	amount, ok := loop.MoneyOf(units)
	switch {
	case !isFloat:
		t.wrong(key, "a number such as 5.00 was expected, not %s", typeName(value))
	case !ok || amount == 0:
		t.wrong(key, "must be above 0 and at most %v, not %v", loop.MaxMoney, units)
		return 0
	}
	return amount
}

// percent reads "15%"; 0 where it is missing.
func (t *table) percent(key string) int {
	text, ok := typed[string](t, key, `a percentage in quotes such as "15%"`)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || !strings.HasSuffix(text, "%") || n < 1 || n > 99 || text[0] == '+' {
		t.wrong(key, `must be from "1%%" to "99%%", not %q`, text)
		return 0
	}
	return n
}

// eachWord visits the words of a list, which are some of those known.
func (t *table) eachWord(key string, known []string, visit func(word string)) {
	t.eachText(key, func(i int, word string) {
		if slices.Contains(known, word) {
			visit(word)
			return
		}
		t.read.add(t.item(key, i), mission.Nearest(word, known), "must be one of %s, not %q", strings.Join(known, ", "), word)
	})
}
