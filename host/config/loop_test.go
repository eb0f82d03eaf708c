package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spec-kitty/step-runner/host/loop"
	"github.com/spec-kitty/step-runner/host/schedule"
)

// wholeLoop is the example of the design, with every key.
const wholeLoop = `schema = 1
description = "Keep dependencies fresh"
[gate]
run = ["./gate.sh"]
timeout = "30s"
[work]
run = ["agent", "-p"]
prompt_file = "PROMPT.md"
timeout = "60m"
idle_timeout = "15m"
kill_grace = "15s"
pass_env = ["HOME", "PATH"]
[verify]
run = ["go", "test", "./..."]
timeout = "20m"
protect = ["**/*_test.go"]
on_fail = "halt"
[goal]
run = ["./done.sh"]
[approval]
before = ["land"]
expires = "72h"
[limits]
max_runs = 50
max_failures = 3
max_no_progress = 3
max_cost_per_run = 5.00
max_cost_per_day = 20
max_tokens_per_run = 1000
max_tokens_per_day = 2000
max_time_per_day = "8h"
context_floor = "15%"
[worktree]
base = "main"
branch = "loop/deps"
setup = ["npm", "ci"]
keep_runs = 20
[schedule]
every = "30m"
jitter = "2m"
min_gap = "5m"
catchup = "once"
catchup_window = "6h"
[lease]
ttl = "90s"
[notify]
run = ["./notify.sh"]
on = ["halted", "waiting", "lost", "done", "overdue"]
overdue_after = "26h"
`

func wantedLoop() *loop.Definition {
	return &loop.Definition{
		Name: "deps", Description: "Keep dependencies fresh",
		Gate: &loop.Check{Run: []string{"./gate.sh"}, Timeout: 30 * time.Second},
		Work: loop.Work{
			Run: []string{"agent", "-p"}, PromptFile: "loops/PROMPT.md", Prompt: "Update.\n", Timeout: time.Hour, IdleTimeout: 15 * time.Minute,
			KillGrace: 15 * time.Second, PassEnv: []string{"HOME", "PATH"},
		},
		Verify:   &loop.Verifier{Check: loop.Check{Run: []string{"go", "test", "./..."}, Timeout: 20 * time.Minute}, Protect: []string{"**/*_test.go"}},
		Goal:     &loop.Check{Run: []string{"./done.sh"}, Timeout: loop.DefaultCheckTimeout},
		Approval: loop.ApprovalRule{Before: []loop.Stage{loop.ToLand}, Expires: 72 * time.Hour},
		Limits: loop.Limits{
			MaxRuns: 50, MaxFailures: 3, MaxNoProgress: 3, MaxCostPerRun: 5_000_000, MaxCostPerDay: 20_000_000, MaxTokensPerRun: 1000,
			MaxTokensPerDay: 2000, MaxTimePerDay: 8 * time.Hour, ContextFloor: 15,
		},
		Worktree: loop.Worktree{Base: "main", Branch: "loop/deps", Setup: []string{"npm", "ci"}, KeepRuns: 20},
		Schedule: loop.Schedule{Rule: schedule.Rule{Every: 30 * time.Minute}, Jitter: 2 * time.Minute, MinGap: 5 * time.Minute, CatchUp: true, Window: 6 * time.Hour},
		Lease:    90 * time.Second,
		Notify: loop.Notify{
			Run: []string{"./notify.sh"}, On: []loop.Occasion{loop.OnHalted, loop.OnWaiting, loop.OnLost, loop.OnDone, loop.OnOverdue},
			OverdueAfter: 26 * time.Hour,
		},
	}
}

// A definition in a file of its own and the same one inline are read alike, and
// what a run keeps of it thaws to the same.
func TestLoadLoop(t *testing.T) {
	indented := strings.NewReplacer("schema = 1\n", "", "\n[", "\n[loops.deps.", "PROMPT.md", "loops/PROMPT.md").Replace(wholeLoop)
	for name, files := range map[string]map[string]string{
		"file":   {FileName: "schema = 1\n[loops.deps]\nfile = \"loops/deps.toml\"\n", "loops/deps.toml": wholeLoop},
		"inline": {FileName: "schema = 1\n[loops.deps]\n" + indented},
	} {
		t.Run(name, func(t *testing.T) {
			files["loops/PROMPT.md"] = "Update.\r\n"
			root := project(t, files)
			cfg, err := Load(root)
			if err != nil {
				t.Fatal(err)
			}
			def, err := LoadLoop(cfg, "deps")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantedLoop(), def); diff != "" {
				t.Fatal(diff)
			}
			if _, _, err := Validate(root); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The least that a loop needs, and what is then the default.
func TestLoopDefaults(t *testing.T) {
	root := project(t, map[string]string{FileName: "schema = 1\n[loops.deps.work]\nrun = [\"true\"]\ntimeout = \"1m\"\n[loops.deps.limits]\nmax_runs = 1\n[loops.deps.gate]\nplugin = \"lint\"\n" +
		"[plugins.lint]\nwasm = \"lint.wasm\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n"})
	cfg, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	def, err := LoadLoop(cfg, "deps")
	if err != nil {
		t.Fatal(err)
	}
	want := &loop.Definition{
		Name: "deps", Gate: &loop.Check{Plugin: "lint"},
		Work:     loop.Work{Run: []string{"true"}, Timeout: time.Minute, KillGrace: loop.DefaultKillGrace, PassEnv: []string{"HOME", "PATH"}},
		Approval: loop.ApprovalRule{Expires: loop.DefaultExpires},
		Limits:   loop.Limits{MaxRuns: 1, MaxFailures: loop.DefaultFailures, MaxNoProgress: loop.DefaultNoProgress},
		Worktree: loop.Worktree{Base: "main", Branch: "loop/deps", KeepRuns: loop.DefaultKeepRuns},
		Schedule: loop.Schedule{CatchUp: true, Window: loop.DefaultWindow},
		Lease:    loop.DefaultLease,
	}
	if diff := cmp.Diff(want, def); diff != "" {
		t.Fatal(diff)
	}
	if file, err := cfg.LoopFile("deps"); err != nil || file != cfg.File {
		t.Fatalf("%s, %v", file, err)
	}
	var missing *NotFoundError
	if _, err := LoadLoop(cfg, "dep"); !errors.As(err, &missing) || missing.Near != "deps" {
		t.Fatalf("%v", err)
	}
}

// Row 36, Case43, Case45: everything that is wrong comes out at once, with its
// line and key; no limit of zero or below means "never" or "at once".
func TestLoopRefuses_Row36_Case43_Case45(t *testing.T) {
	bad := `schema = 1
descripton = "x"
[gate]
run = ["a"]
plugin = "lint"
[work]
run = ["agent -p prompts/p.md"]
timeout = "10"
idle_timeout = "0s"
pass_env = ["A=B"]
retry = 1
[verify]
command = "unit-tests"
timeout = "1m"
protect = ["/abs", "a["]
on_fail = "retri"
[goal]
[approval]
before = ["land", "finish"]
expires = "-5s"
[limits]
max_runs = 0
max_failures = -5
max_no_progress = "10"
max_cost_per_run = 0
max_cost_per_day = "5"
max_tokens_per_run = 1e9
context_floor = "0%"
[worktree]
branch = "main"
keep_runs = 0
[schedule]
every = "90s"
jitter = "1000000000s"
catchup = "skip"
catchup_window = "6h"
[lease]
ttl = "1s"
[notify]
on = ["halt"]
`
	root := project(t, map[string]string{FileName: "schema = 1\n[loops.deps]\nfile = \"l.toml\"\ngate = 1\n", "l.toml": bad})
	cfg, err := Load(root)
	want(t, err, `spec-kitty.toml:4: loops.deps.gate: has no effect beside file: the definition is in l.toml`)
	_, err = LoadLoop(cfg, "deps")
	want(t, err, `l.toml:2: descripton: unknown key descripton; did you mean description?
l.toml:3: gate: has run and plugin: one of them is asked
l.toml:7: work.run[0]: "agent -p prompts/p.md" is one word for the program's name, as no shell takes it apart: write its arguments as texts of their own
l.toml:8: work.timeout: "10" is no duration: it needs a number and a unit, such as "500ms", "10s" or "2m"
l.toml:9: work.idle_timeout: must be from 1s to 168h0m0s, not 0s
l.toml:10: work.pass_env[0]: "A=B" is no environment variable's name
l.toml:11: work.retry: unknown key retry in [work]; the keys there are idle_timeout, kill_grace, pass_env, prompt_file, run, timeout
l.toml:13: verify.command: names the command "unit-tests", which is not in [commands] of spec-kitty.toml
l.toml:14: verify.timeout: has no effect here: the command has its own
l.toml:15: verify.protect[0]: "/abs" fits no file: a pattern such as "**/*_test.go" was expected, relative to the repository's root
l.toml:15: verify.protect[1]: "a[" is no pattern: "a[" is none for a file's or folder's name
l.toml:16: verify.on_fail: must be one of halt, retry, not "retri"; did you mean retry?
l.toml:17: goal: needs one of run, command and plugin
l.toml:19: approval.before[1]: must be one of start, land, not "finish"
l.toml:20: approval.expires: must be from 1m0s to 8784h0m0s, not -5s
l.toml:22: limits.max_runs: must be from 1 to 1000000, not 0
l.toml:23: limits.max_failures: must be from 1 to 1000000, not -5
l.toml:24: limits.max_no_progress: a whole number was expected, not text
l.toml:25: limits.max_cost_per_run: must be above 0 and at most 1000000000.00, not 0
l.toml:26: limits.max_cost_per_day: a number such as 5.00 was expected, not text
l.toml:27: limits.max_tokens_per_run: a whole number was expected, not a number with a fraction
l.toml:28: limits.context_floor: must be from "1%" to "99%", not "0%"
l.toml:30: worktree.branch: is base itself: a loop lands on a branch of its own, which people or a command of yours merge
l.toml:31: worktree.keep_runs: must be from 1 to 1000000, not 0
l.toml:33: schedule.every: every must be whole minutes from 1m to 8784h, not 1m30s
l.toml:34: schedule.jitter: must be from 1s to 24h0m0s, not 277777h46m40s
l.toml:36: schedule.catchup_window: has no effect with catchup = "skip"
l.toml:38: lease.ttl: must be from 10s to 1h0m0s, not 1s
l.toml:40: notify.on[0]: must be one of halted, waiting, lost, done, overdue, invalid, not "halt"; did you mean halted?
l.toml:40: notify.on: has no effect without run, the program that is told`)
	_, _, err = Validate(root)
	if err == nil || strings.Count(err.Error(), "\n") != 30 {
		t.Fatalf("all that is wrong anywhere: %v", err)
	}
}

func want(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Fatal(diff)
	}
}

// What is missing is named by its key; a loop that nothing ends is refused.
func TestLoopMissesKeys_Row36(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing": {"description = \"x\"\n", `l.toml: schema: is missing: the file's first line is schema = 1
l.toml: work: is missing: run = ["agent", "-p"] and timeout = "60m"
l.toml: limits: nothing ends this loop: it needs max_runs, a [goal] or a limit on cost, tokens or time`},
		"parts": {"schema = 2\n[work]\nprompt_file = \"/abs\"\n[schedule]\njitter = \"2m\"\n[limits]\nmax_runs = 1\n", `l.toml:1: schema: 2 is newer than this version, which reads 1
l.toml:2: work.run: is missing: the program and its arguments
l.toml:2: work.timeout: is missing: how long a run's work may take, such as "60m"
l.toml:3: work.prompt_file: "/abs" is empty or absolute; a path was expected that is relative to l.toml and below the project root
l.toml:4: schedule: needs every = "30m" or cron = "0 2 * * 1-5"`},
		"empty": {"schema = 0\n[work]\nrun = []\ntimeout = \"1m\"\nprompt_file = \"none.md\"\n[gate]\ncommand = \"\"\n[goal]\nrun = [\"\"]\n[schedule]\ncron = \"\"\n[worktree]\nbranch = \"a b\"\nbase = \"\"\n", `l.toml:1: schema: must be 1, not 0
l.toml:3: work.run: is empty: the program and its arguments were expected
l.toml:5: work.prompt_file: "none.md" does not exist
l.toml:7: gate.command: is empty: a name was expected
l.toml:9: goal.run[0]: is empty: the name of a program was expected
l.toml:11: schedule.cron: is empty: a name was expected
l.toml:13: worktree.branch: holds a character that git allows in no branch's name (space ~ ^ : ? * [ \)
l.toml:14: worktree.base: is empty: the name of a branch was expected`},
		"both times": {"schema = 1\n[work]\nrun = [\"a\"]\ntimeout = \"1m\"\nidle_timeout = \"1m\"\n[limits]\nmax_runs = 1\n[schedule]\nevery = \"30m\"\njitter = \"30m\"\n[approval]\nbefore = [\"land\", \"land\"]\n", `l.toml:5: work.idle_timeout: has no effect: timeout comes first
l.toml:10: schedule.jitter: is as long as every: a firing would come after the next one's time
l.toml:12: approval.before: names land twice`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Load(project(t, map[string]string{FileName: "schema = 1\n[loops.deps]\nfile = \"l.toml\"\n", "l.toml": c.text}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = LoadLoop(cfg, "deps")
			want(t, err, c.want)
		})
	}
	cfg, err := Load(project(t, map[string]string{FileName: "schema = 1\n[loops.deps]\nfile = \"none.toml\"\n"}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = LoadLoop(cfg, "deps")
	want(t, err, `spec-kitty.toml:3: loops.deps.file: "none.toml" does not exist`)
	_, err = Load(project(t, map[string]string{FileName: "schema = 1\n[loops.deps.work]\nrun = [\"a\"]\n[loops.deps.limit]\n"}))
	want(t, err, `spec-kitty.toml:2: loops.deps.work.timeout: is missing: how long a run's work may take, such as "60m"
spec-kitty.toml:2: loops.deps.limits: nothing ends this loop: it needs max_runs, a [goal] or a limit on cost, tokens or time
spec-kitty.toml:4: loops.deps.limit: unknown key limit in [loops.deps]; did you mean limits?`)
}
